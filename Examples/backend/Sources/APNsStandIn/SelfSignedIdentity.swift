import Crypto
import Foundation
import NIOSSL
import SwiftASN1
import X509

/// A self-signed certificate for `localhost` and 127.0.0.1, made at the start.
public struct SelfSignedIdentity: Sendable {
    /// The certificate, which a client trusts for this run.
    public let certificatePEM: String
    let certificate: NIOSSLCertificate
    let key: NIOSSLPrivateKey

    /// Makes an identity that is valid for a day.
    ///
    /// - Throws: the error of swift-certificates or of NIOSSL.
    public init() throws {
        let privateKey = P256.Signing.PrivateKey()
        let signer = Certificate.PrivateKey(privateKey)
        let name = try DistinguishedName { CommonName("APNs stand-in") }
        let now = Date()
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: signer.publicKey,
            notValidBefore: now.addingTimeInterval(-3_600), notValidAfter: now.addingTimeInterval(86_400), issuer: name,
            subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                SubjectAlternativeNames([
                    .dnsName("localhost"), .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
                ])
            }, issuerPrivateKey: signer)
        certificatePEM = try certificate.serializeAsPEM().pemString
        self.certificate = try NIOSSLCertificate(bytes: Array(certificatePEM.utf8), format: .pem)
        key = try NIOSSLPrivateKey(bytes: Array(privateKey.pemRepresentation.utf8), format: .pem)
    }
}
