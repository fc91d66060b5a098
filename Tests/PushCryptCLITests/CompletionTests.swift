import Testing

@Suite("shell completions", .ownThreads)
struct CompletionTests {
    @Test("come out of the binary", arguments: ["bash", "zsh", "fish"])
    func script(_ shell: String) throws {
        let place = try Workplace()
        let output = try place.run("--generate-completion-script", shell)
        #expect(output.isSuccess, "\(output)")
        for word in ["rotate", "reseal", "dry-run", "keys", "promote", "blob", "self-test"] {
            #expect(output.text.contains(word), "\(word)")
        }
    }

    @Test("the one for bash is valid")
    func bash() throws {
        let place = try Workplace()
        let output = try place.shell(#""$PUSHCRYPT" --generate-completion-script bash >c && bash -n c"#)
        #expect(output.isSuccess, "\(output)")
    }
}
