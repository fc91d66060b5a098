import Foundation
import PushCryptSender
import PushCryptSimulator

/// The first bytes of a GIF. The phone recognizes the type by them, as the system does, and decodes nothing.
let picture = [UInt8]("GIF89a".utf8) + [UInt8](repeating: 0, count: 10)

extension TestDevice {
    /// Seals a payload to this phone, as your backend does.
    func sealed(
        _ payload: String, attachments: [AttachmentReference] = [], offload: OffloadReference? = nil
    ) throws -> Data {
        try Sealer(topic: device.topic).seal(
            Data(payload.utf8), to: Recipient(jwk: registration), placeholder: .standard, attachments: attachments,
            offload: offload
        ).json
    }

    /// Seals a payload to this phone and receives it.
    func receive(
        sealed payload: String, attachments: [AttachmentReference] = [], offload: OffloadReference? = nil
    ) async throws -> SimulatedDevice.Reception {
        await receive(try sealed(payload, attachments: attachments, offload: offload))
    }
}
