import PushCryptCore
import PushCryptKeystore
import Testing

@Suite("UnknownMembers")
struct UnknownMembersTests {
    @Test(
        "paths returns the path of every unknown member",
        arguments: [
            ("{}", []),
            (#"{"keys": [], "pushcrypt": {}, "digest": ""}"#, []),
            (#"{"a": 1, "keys": [{"kty": 1, "b": 1}, {"c": 1}]}"#, ["a", "keys[0].b", "keys[1].c"]),
            (#"{"sealed": {"v": 1, "command": true}, "keys": [{"b": 1}]}"#, ["keys"]),
            (
                #"{"sealed": {"passphrase": {"n": 1, "q": 1}, "command": true}}"#,
                ["sealed.command", "sealed.passphrase.q"]
            ),
            (
                #"{"sealed": {"v": 2, "locks": [{"name": "a", "key": "", "passphrase": {"salt": ""}}, {"command": true}]}}"#,
                []
            ),
            (
                #"{"sealed": {"locks": [{"passphrase": {"q": 1}, "x": 1}, {"command": true, "v": 2}], "command": true}}"#,
                ["sealed.command", "sealed.locks[0].x", "sealed.locks[0].passphrase.q", "sealed.locks[1].v"]
            ),
            (
                #"{"pushcrypt": {"x": 1, "keys": {"K": {"psk": true, "y": 1}}, "policy": {"z": 1}, "audit": {"w": 1}}}"#,
                ["pushcrypt.x", "pushcrypt.policy.z", "pushcrypt.audit.w", "pushcrypt.keys.K.y"]
            ),
            (
                #"{"pushcrypt": {"publication": {"set": "", "topics": [], "epoch": 1, "validFor": "", "v": 1}}}"#,
                ["pushcrypt.publication.v"]
            ),
            (#"{"keys": [{"role": "publisher"}]}"#, []),
            // The parser refuses values of a wrong type.
            (#"{"pushcrypt": [1], "keys": {"a": 1}, "sealed": 1}"#, ["keys"]),
        ])
    func paths(_ text: String, _ expected: [String]) throws {
        #expect(UnknownMembers.paths(in: try JSONText(Array(text.utf8)).root) == expected)
    }
}
