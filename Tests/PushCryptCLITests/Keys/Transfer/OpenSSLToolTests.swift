import Foundation
import PushCryptTestSupport
import Testing

/// The README doesn't install the openssl tool; CI does.
@Suite(
    "import and export with the openssl tool", .ownThreads,
    .enabled(if: OpenSSLTool.isAvailable, "there is no openssl tool"))
struct OpenSSLToolTransferTests {
    static let kinds = ["recipient", "recipient --suite x25519", "sender"]
    static let making = [
        "genpkey -algorithm X25519", "genpkey -algorithm ED25519",
        "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256",
        "ecparam -name prime256v1 -genkey -noout", "genpkey -algorithm ED25519 -outform DER",
        "genpkey -algorithm X25519 -aes-256-cbc -pass file:passphrase",
    ]

    @Test("openssl reads the files that keys export writes", arguments: kinds, ["pem", "der"])
    func export(_ kind: String, _ form: String) throws {
        let place = try Workplace()
        try place.write(Data("a passphrase\n".utf8), to: "passphrase")
        let output = try place.shell(
            """
            set -e
            "$PUSHCRYPT" keys create Keys/a --kind \(kind) --insecure-plaintext >kid
            "$PUSHCRYPT" keys export Keys/a --format \(form) >public
            "$PUSHCRYPT" keys export Keys/a --format \(form) --private --export-passphrase-file passphrase >private
            "$PUSHCRYPT" keys export Keys/a --format \(form) --private --insecure-plaintext >plain
            openssl pkey -pubin -inform \(form) -in public -pubout >1
            openssl pkey -inform \(form) -in private -passin file:passphrase -pubout >2
            openssl pkey -inform \(form) -in plain -pubout >3
            cmp 1 2 && cmp 2 3
            """)
        #expect(output.exit == 0, "\(output)")
    }

    @Test("keys import reads the files that openssl writes", arguments: making)
    func `import`(_ command: String) throws {
        let place = try Workplace()
        try place.write(Data("a passphrase\n".utf8), to: "passphrase")
        let output = try place.shell(
            """
            set -e
            umask 077
            openssl \(command) >key
            "$PUSHCRYPT" keys import Keys/a key --key-passphrase-file passphrase --insecure-plaintext >kid
            "$PUSHCRYPT" keys export Keys/a --format pem >ours
            openssl pkey -in key -passin file:passphrase -pubout >theirs ||
                openssl pkey -inform DER -in key -pubout >theirs
            cmp ours theirs
            """)
        #expect(output.exit == 0, "\(output)")
    }

    @Test(
        "keys import refuses openssl keys of other kinds",
        arguments: [
            "genrsa 2048", "genpkey -algorithm ED448", "genpkey -algorithm X448",
            "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384",
        ])
    func others(_ command: String) throws {
        let place = try Workplace()
        let output = try place.shell(
            #"openssl \#(command) >key 2>/dev/null; "$PUSHCRYPT" keys import Keys/a key --insecure-plaintext"#)
        expectRefusal(output, 65, saying: "key")
        #expect(try !place.names().contains("Keys"))
    }
}

enum OpenSSLTool {
    static let isAvailable = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"].contains { folder in
        FileManager.default.isExecutableFile(atPath: folder + "/openssl")
    }
}
