import PushCryptCore

/// What `simulate` and `diagnose` say about a failure class.
struct FailureText {
    /// What the class means, for somebody who doesn't know the protocol.
    let meaning: String
    let advice: String
    /// Whether nothing is wrong, so that `diagnose` makes a note of it.
    let isNormal: Bool

    fileprivate init(_ meaning: String, do advice: String, isNormal: Bool = false) {
        (self.meaning, self.advice, self.isNormal) = (meaning, advice, isNormal)
    }
}

extension FailureClass {
    var meaning: String { defined?.text.meaning ?? "It is a class of the app's own." }
}

extension FailureClass.Defined {
    var text: FailureText {
        switch self {
        case .notSealed:
            FailureText(
                "The push wasn't sealed, or lost its member \"pushcrypt\" on the way.",
                do: "Compare what your backend sends with what the device receives: a relay may drop members.")
        case .malformed:
            FailureText(
                "The payload isn't strict JSON, a member of pushcrypt is missing or has the wrong type, or there is no "
                    + "text for the user.",
                do: "Compare what the device receives with the sealed payload; give it to this command.")
        case .unsupportedVersion:
            FailureText("The payload has a protocol version that this app doesn't know.", do: "Update the app.")
        case .unknownKey:
            FailureText(
                "The phone doesn't have the key that it was sealed to, or doesn't pin the key that signed it.",
                do: "Compare the backend's record and its sender keys with the device's. Usually the app must register "
                    + "again.")
        case .keyLocked:
            FailureText(
                "Keys can't be read until the phone is unlocked once after its start.",
                do: "Nothing: this is normal until the user unlocks the device. Later pushes are restored.",
                isNormal: true)
        case .keyExpired:
            FailureText(
                "The key has expired.",
                do: "Let the app register again, and check that it gets a valid set of sender keys.")
        case .keyRevoked:
            FailureText(
                "The key was revoked.",
                do: "Seal to the newest record of the device, and sign with the current sender key.")
        case .unsupportedSuite:
            FailureText(
                "The key is of a suite that this system doesn't have: suite 3 needs OpenSSL 3.5, or iOS 26.",
                do: "Let the app make a key of another suite and register again.")
        case .undecryptable:
            FailureText(
                "Decryption or verification failed. pushcrypt diagnose can say why.",
                do: "Send the sealed bytes unchanged, with the topic of the app.")
        case .expired: FailureText("The message has expired.", do: "Seal when you send, or with a later expiry.")
        case .notYetValid:
            FailureText(
                "The message was sealed later than the phone's clock says it is.", do: "Set the clocks automatically.")
        case .replayed:
            FailureText(
                "The phone has shown this message already.",
                do: "Send each sealed push once. To send again, seal again; give each campaign another name, because a "
                    + "device shows one push of a campaign. If a relay retries, give the push an apns-collapse-id.")
        case .retracted:
            FailureText(
                "The message was taken back before it was shown.", do: "Nothing: the sender asked for this.",
                isNormal: true)
        case .timedOut:
            FailureText(
                "The extension didn't finish in time, about 25 seconds.",
                do: "Look for slow attachments and slow stages of the app; give them shorter time limits.")
        case .attachmentFailed:
            FailureText(
                "An attachment couldn't be fetched in time, or isn't what was sealed.",
                do:
                    "Check that the address is https, that the server answers within seconds without a login, and "
                    + "that the "
                    + "file is the one that was sealed and of a type that iOS shows.")
        case .internalError:
            FailureText(
                "The extension couldn't be set up, or couldn't reach its keys.",
                do: "Check that the extension's entitlements name the same app group and keychain group as the app's, "
                    + "and that its resources contain sender-pins.json.")
        }
    }
}
