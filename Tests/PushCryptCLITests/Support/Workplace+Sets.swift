import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptTestSupport
import Testing

extension Workplace {
    /// A public JWK set of fresh recipient keys with these lifecycle members; returns the kids.
    func writeSet(_ lifecycles: [String], to file: String) throws -> [String] {
        var (keys, members, kids) = ([String](), [String](), [String]())
        for (index, lifecycle) in lifecycles.enumerated() {
            let kid = try create("\(file).keys/\(index)", "recipient")
            let made = try KeysetFolder(folder.file("\(file).keys/\(index)").path).load(.none)
            var jwk = [UInt8]()
            try made.entries[0].record.publicRecord(keepingPSK: true).appendJWK(to: &jwk)
            keys.append(String(decoding: jwk, as: UTF8.self))
            members.append(#""\#(kid)":{\#(lifecycle)}"#)
            kids.append(kid)
        }
        let (list, lives) = (keys.joined(separator: ","), members.joined(separator: ","))
        let set = #"{"keys":[\#(list)],"pushcrypt":{"seq":1,"keys":{\#(lives)}}}"#
        try write(Data(set.utf8), to: file)
        return kids
    }

    /// A keyset's file without its digest, as somebody leaves it who means to edit it.
    func readForEditing(_ path: String) throws -> Data {
        let text = String(decoding: try read(path), as: UTF8.self)
        return Data(text.replacing(/,\n  "digest": "[^"]*"/, with: "").utf8)
    }

    /// One public JWK; with its psk where it has one.
    func publicJWK(_ path: String) throws -> String {
        let output = try run("keys", "export", path, "--registration")
        try #require(output.isSuccess, "\(output)")
        return output.line
    }

    /// The values of `d`, `k` and `psk` in a key file.
    func secrets(in path: String) throws -> [String] {
        let keys = try Payload.member("keys", of: try read(path)) as? [[String: String]] ?? []
        return keys.flatMap { key in ["d", "k", "psk"].compactMap { key[$0] } }
    }
}
