import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives

/// Calls of an app or an extension to a keyring in files.
///
/// ```
/// keyring read FOLDER KID     prints "found", or the failure class
/// keyring pins FOLDER PINS    prints "trusted", or the failure class; PINS is the JSON of the publishers
/// keyring make FOLDER         prints the kid of the pair that is registered or was made, or the error's code
/// keyring rotate FOLDER       replaces pair by pair until it is killed, and prints the kid of each when it is stored
/// ```
enum KeyringCommand {
    @Sendable static func run(_ arguments: [String]) throws {
        let keyring = FileKeyring(folder: arguments[1])
        switch arguments[0] {
        case "read": say(read(keyring, KeyID(arguments[2])!))
        case "pins":
            let publishers = try SenderSetPins(json: Array(arguments[2].utf8))
            let senders = try SenderPins(folder: arguments[1], publishers: publishers, topic: "com.example.app")
            say(pins(senders))
        case "make": say(make(keyring))
        case "rotate": try rotate(keyring)
        default: exit(64)
        }
    }

    private static func read(_ keyring: FileKeyring, _ kid: KeyID) -> String {
        do throws(FailureClass) {
            _ = try keyring.key(kid, at: UnixTime(0))
            return "found"
        } catch {
            return error.description
        }
    }

    private static func pins(_ pins: SenderPins) -> String {
        do throws(FailureClass) {
            _ = try pins.trustedSenders()
            return "trusted"
        } catch {
            return error.description
        }
    }

    private static func make(_ keyring: FileKeyring) -> String {
        do throws(DeviceKeyError) {
            return try DeviceIdentity(storage: keyring).makeIfNeeded().kid.description
        } catch {
            return error.code == .locked ? "locked" : "\(error)"
        }
    }

    private static func rotate(_ keyring: FileKeyring) throws {
        let identity = DeviceIdentity(storage: keyring)
        while true {
            let record = try identity.rotate()
            say(record.kid.description)
            try identity.confirmRegistered(record)
        }
    }
}
