import Foundation
import PushCryptExtension

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension TransferError {
    static let password = TransferError(.status, "the server wants a password")

    /// An error of the session's without the address that it names.
    init(_ error: any Error) {
        guard let error = error as? URLError else {
            self.init(.network, "the network failed")
            return
        }
        switch error.code {
        case .cancelled: self.init(.cancelled, "the transfer was cancelled")
        case .timedOut: self.init(.cancelled, "the server sent nothing for too long")
        case .appTransportSecurityRequiresSecureConnection:
            self.init(.addressRefused, "the system wants https (\(error.code.rawValue))")
        default: self.init(.network, "the network failed (\(error.code.rawValue))")
        }
    }
}
