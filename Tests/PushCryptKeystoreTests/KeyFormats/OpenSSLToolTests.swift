import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite(.enabled(if: OpenSSLTool.isAvailable, OpenSSLTool.missing)) struct OpenSSLToolTests {
    private static let passphrase = "Grüße, and more"
    private let tool: OpenSSLTool

    init() throws {
        tool = try OpenSSLTool()
        try tool.write(Array("\(Self.passphrase)\n".utf8), to: "pass")
    }

    /// Commands that print a container with the key in `key.pem`.
    static let containers = [
        "pkey -in key.pem",
        // SEC 1 for P-256, PKCS#8 for the others.
        "pkey -in key.pem -outform DER",
        "pkey -in key.pem -aes-256-cbc -passout file:pass",
        "pkcs8 -topk8 -in key.pem -passout file:pass -outform DER",
        "pkcs8 -topk8 -in key.pem -passout file:pass -v2 aes-128-cbc -v2prf hmacWithSHA512 -iter 5000",
        "pkcs8 -topk8 -in key.pem -passout file:pass -scrypt",
        "pkcs8 -topk8 -in key.pem -passout file:pass -scrypt -outform DER",
        "pkcs8 -topk8 -in key.pem -nocrypt",
        "pkey -in key.pem -pubout", "pkey -in key.pem -pubout -outform DER",
    ]

    @Test("a key that OpenSSL wrote is read", arguments: ContainedKey.Algorithm.allCases, containers)
    func reads(_ algorithm: ContainedKey.Algorithm, _ command: String) throws {
        try tool.run("genpkey -algorithm \(algorithm.generation) -out key.pem")
        let container = try tool.run(command)
        let passphrase = command.contains("-passout") ? Self.passphrase : nil
        try expect(container, passphrase, is: algorithm, isPublic: command.contains("-pubout"))
    }

    static let containersOfP256 = [
        "ec -in key.pem", "ec -in key.pem -outform DER", "ec -in key.pem -no_public",
        "ec -in key.pem -conv_form compressed -outform DER", "ec -in key.pem -pubout -conv_form compressed",
        "pkey -in key.pem -traditional -outform DER", "pkey -in key.pem -ec_conv_form compressed",
    ]

    @Test("a P-256 key in any of OpenSSL's forms is read", arguments: containersOfP256)
    func readsP256(_ command: String) throws {
        try tool.run("genpkey -algorithm \(ContainedKey.Algorithm.p256.generation) -out key.pem")
        try expect(tool.run(command), nil, is: .p256, isPublic: command.contains("-pubout"))
    }

    @Test func `a P-256 key after its EC PARAMETERS block is read`() throws {
        let container = try tool.run("ecparam -genkey -name prime256v1")
        #expect(container.starts(with: Array("-----BEGIN EC PARAMETERS-----".utf8)))
        try tool.write(container, to: "key.pem")
        try expect(container, nil, is: .p256, isPublic: false)
    }

    @Test func `a key that OpenSSL encrypted at generation is read`() throws {
        try tool.run("genpkey -algorithm X25519 -aes-256-cbc -pass file:pass -out encrypted.pem")
        try tool.run("pkey -in encrypted.pem -passin file:pass -out key.pem")
        try expect(tool.read("encrypted.pem"), Self.passphrase, is: .x25519, isPublic: false)
    }

    @Test("KeyContainer writes keys in clear byte for byte like OpenSSL", arguments: ContainedKey.Algorithm.allCases)
    func writesTheSame(_ algorithm: ContainedKey.Algorithm) throws {
        let key = try ContainedKey.sample(algorithm)
        try tool.write(key.written(as: .privateKey, .der), to: "key.der")
        for (encoding, name) in [(KeyContainer.Encoding.pem, "PEM"), (.der, "DER")] {
            let options = "-in key.der -inform DER -outform \(name)"
            #expect(try tool.run("pkcs8 -topk8 -nocrypt \(options)") == key.written(as: .privateKey, encoding))
            #expect(try tool.run("pkey -pubout \(options)") == key.written(as: .publicKey, encoding))
        }
    }

    @Test("OpenSSL reads what KeyContainer writes", arguments: ContainedKey.Algorithm.allCases, ["PEM", "DER"])
    func openSSLReads(_ algorithm: ContainedKey.Algorithm, _ encoding: String) throws {
        let key = try ContainedKey.sample(algorithm)
        let encrypted = KeyContainer.Form.encryptedPrivateKey(passphrase: SecretBytes(text: Self.passphrase))
        let forms = [(KeyContainer.Form.publicKey, "-pubin"), (.privateKey, ""), (encrypted, "-passin file:pass")]
        for (form, options) in forms {
            try tool.write(key.written(as: form, encoding == "PEM" ? .pem : .der), to: "ours")
            let numbers = try tool.numbers("-in ours -inform \(encoding) \(options)")
            #expect(numbers.publicKey == key.publicKey)
            #expect(numbers.privateKey == (options == "-pubin" ? nil : key.privateKey?.revealed))
            try tool.run("pkey -in ours -inform \(encoding) \(options) -pubcheck -noout")
        }
    }

    @Test func `an encrypted key uses PBES2 with AES-256-CBC and 600,000 iterations of PBKDF2`() throws {
        let form = KeyContainer.Form.encryptedPrivateKey(passphrase: SecretBytes(text: Self.passphrase))
        try tool.write(ContainedKey.sample(.ed25519).written(as: form, .der), to: "ours")
        let text = String(decoding: try tool.run("asn1parse -inform DER -in ours"), as: UTF8.self)
        let words = text.split { $0 == ":" || $0.isWhitespace }
        for word in ["PBES2", "PBKDF2", "hmacWithSHA256", "aes-256-cbc"] {
            #expect(words.contains { $0 == word }, "\(word) in \(text)")
        }
        // 600,000.
        #expect(words.contains("0927C0"), "\(text)")
    }

    private func expect(
        _ container: [UInt8], _ passphrase: String?, is algorithm: ContainedKey.Algorithm, isPublic: Bool
    ) throws {
        let numbers = try tool.numbers("-in key.pem")
        let key = try KeyContainer.read(container, passphrase: passphrase)
        #expect(key.algorithm == algorithm)
        #expect(key.publicKey == numbers.publicKey)
        #expect(key.privateKey?.revealed == (isPublic ? nil : numbers.privateKey))
    }
}

extension ContainedKey.Algorithm {
    fileprivate var generation: String {
        switch self {
        case .p256: "EC -pkeyopt ec_paramgen_curve:P-256"
        case .x25519: "X25519"
        case .ed25519: "ED25519"
        }
    }
}
