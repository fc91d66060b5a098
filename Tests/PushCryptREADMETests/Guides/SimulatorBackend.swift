import Foundation
import PushCryptApple

/// Stands in for the backend in the Simulator: prints the registration record, and returns the set of the app's resources.
struct SimulatorBackend: Backend {
    func store(_ registration: PushRegistration.Upload) async throws {
        print(String(decoding: registration.record, as: UTF8.self))
    }

    func senderSet() async throws -> Data {
        guard let file = Bundle.main.resourceURL?.appendingPathComponent("senders.json") else {
            throw CocoaError(.fileReadNoSuchFile)
        }
        return try Data(contentsOf: file)
    }
}
