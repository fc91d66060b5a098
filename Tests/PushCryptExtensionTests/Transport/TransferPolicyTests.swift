import PushCryptExtension
import Testing

@Suite struct TransferPolicyTests {
    private static func expectRefused(
        _ address: String, by policy: TransferPolicy, _ location: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: TransferError.self, sourceLocation: location) { try policy.check(address) }
        #expect(error?.code == .addressRefused, sourceLocation: location)
        if !address.isEmpty { #expect(error?.reason.contains(address) == false, sourceLocation: location) }
    }

    @Test(
        "an https address with a valid host is allowed",
        arguments: [
            "https://example.com", "https://example.com/", "HTTPS://EXAMPLE.com/a", "https://example.com:8443/a?b#c",
            "https://example.com?a", "https://example.com#a", "https://a_b.xn--bcher-kva.example/%C3%A9?q=[1]",
            "https://192.0.2.1/", "https://[2001:db8::1]:443/", "https://[::ffff:192.0.2.1]/",
            "https://example.com/a@b:c",
            "https://example.com/?u=https://other.example/", "https://e/" + String(repeating: "a", count: 8182),
        ])
    func allowed(address: String) throws {
        try TransferPolicy().check(address)
    }

    @Test(
        "an address that is not https or could be read in two ways is refused",
        arguments: [
            "", "x", "/x", "//example.com/x", "https:", "https:/example.com", "https://", "https:///x", "https://:443/",
            "http://example.com/", "ftp://example.com/", "file:///etc/passwd", "data:,x", "javascript://example.com/",
            "httpss://example.com/", " https://example.com/", "https://example.com/ ", "https ://example.com/",
            "h\u{74}tp\u{73}\n://example.com/", "https://user@example.com/", "https://user:password@example.com/",
            "https://good.example@example.com/", "https://@example.com/", "https://example.com\\@other.example/",
            "https://example.com\\/", "https:\\\\example.com/", "https://example.com/\t", "https://exa\nmple.com/",
            "https://example.com/\0", "https://exa%6Dple.com/", "https://example.com/%", "https://example.com/%4",
            "https://example.com/%4g", "https://example.com:/", "https://example.com:0/", "https://example.com:65536/",
            "https://example.com:+443/", "https://example.com:443:443/", "https://example.com:4 3/", "https://a..b/",
            "https://.example.com/", "https://example.com./", "https://bücher.example/", "https://example.com/é",
            "https://[::1/", "https://::1/", "https://[]/", "https://[g::1]/", "https://[::1%25en0]/",
            "https://[::1]x/",
            "https://exam<ple.com/", "https://example.com/\"", "https://example.com/{}", "https://example.com/|",
            "https://example.com/`", "https://example.com/^", "https://e/" + String(repeating: "a", count: 8183),
        ])
    func refused(address: String) {
        Self.expectRefused(address, by: TransferPolicy())
        Self.expectRefused(address, by: TransferPolicy(allowsLoopbackHTTP: true))
    }

    @Test(
        "a wrong address is refused with the place of an unescaped character, or with the host or the port",
        arguments: [
            ("https://e.com/a b.png", "the character at byte 15 isn't percent-encoded"),
            ("https://e.com/Zoë.png", "the character at byte 16 isn't percent-encoded"),
            ("https://e.com/?q=\"a\"", "the character at byte 17 isn't percent-encoded"),
            ("https://bücher.example/", "the character at byte 9 isn't one of a host"),
            ("https://e.com:99999/a", "in the address, the port is not a number from 1 to 65535"),
            ("https://[::1]:0/a", "in the address, the port is not"),
            ("https://e..com/a", "in the address, the host is not"),
            ("http:/e.com/a", "the address does not consist of scheme, host and path"),
        ])
    func unescaped(address: String, reason: String) {
        let error = #expect(throws: TransferError.self) { try TransferPolicy().check(address) }
        #expect(error?.code == .addressRefused && error?.reason.contains(reason) == true, "\(error as Any)")
    }

    @Test(
        "http to a loopback address is allowed only if the policy says so",
        arguments: [
            "http://127.0.0.1/", "http://127.0.0.1:8080/x", "http://127.255.255.255/", "http://localhost/",
            "HTTP://LocalHost:1/", "http://[::1]:8080/",
        ])
    func loopback(address: String) throws {
        try TransferPolicy(allowsLoopbackHTTP: true).check(address)
        Self.expectRefused(address, by: TransferPolicy())
    }

    @Test(
        "http to an address that only resembles loopback is refused",
        arguments: [
            "http://127.1/", "http://2130706433/", "http://0x7f.0.0.1/", "http://0177.0.0.1/", "http://127.0.0.01/",
            "http://127.0.0.256/", "http://127.0.0.1.example.com/", "http://127.0.0.1.5/", "http://128.0.0.1/",
            "http://localhost.example.com/", "http://alocalhost/", "http://[::2]/", "http://[0:0:0:0:0:0:0:1]/",
            "http://[::ffff:127.0.0.1]/", "http://0.0.0.0/", "http://10.0.0.1/", "http://192.168.0.1/",
            "ftp://127.0.0.1/", "http://user@127.0.0.1/", "http://127.0.0.1@example.com/",
        ])
    func notLoopback(address: String) {
        Self.expectRefused(address, by: TransferPolicy(allowsLoopbackHTTP: true))
    }

    private static let hosts: Set<String> = ["pictures.example", "[2001:db8::1]"]

    @Test(
        "an address on an allowed host is accepted",
        arguments: ["https://pictures.example/x", "https://PICTURES.example:8443/", "https://[2001:DB8::1]/"])
    func allowedHost(address: String) throws {
        try TransferPolicy(allowedHosts: Self.hosts).check(address)
        Self.expectRefused(address, by: TransferPolicy(allowedHosts: []))
    }

    @Test(
        "an address on another host than the allowed ones is refused, and every address if none is allowed",
        arguments: [
            "https://example.com/pictures.example", "https://a.pictures.example/", "https://pictures.example.com/",
            "https://xpictures.example/", "https://example.com/?pictures.example",
            "https://example.com#pictures.example",
            "http://pictures.example/", "http://127.0.0.1/", "https://[2001:db8::2]/",
        ])
    func otherHost(address: String) {
        Self.expectRefused(address, by: TransferPolicy(allowedHosts: Self.hosts, allowsLoopbackHTTP: true))
        Self.expectRefused(address, by: TransferPolicy(allowedHosts: []))
    }
}
