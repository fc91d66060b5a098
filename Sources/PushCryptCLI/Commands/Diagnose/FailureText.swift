import PushCryptCore

/// What `simulate` and `diagnose` say about a failure class.
struct FailureText {
    /// What the class means, for somebody who doesn't know the protocol.
    let meaning: String
    let finding: Finding

    /// The finding of `diagnose` for a device that counted the failure or left it in the placeholder.
    enum Finding {
        case effect(DeviceEffect)
        /// Another finding explains it if it is the failure of this push.
        case ofPush
        /// A finding about the stages of the extension.
        case ofStages
    }

    fileprivate init(_ meaning: String, _ finding: Finding) { (self.meaning, self.finding) = (meaning, finding) }

    fileprivate init(
        _ meaning: String, name: String, do advice: String, isNormal: Bool = false,
        asks: (input: EvidenceInput, sentence: String)? = nil, namesKey: Bool = false
    ) {
        let effect = DeviceEffect(name: name, advice: advice, isNormal: isNormal, asks: asks, namesKey: namesKey)
        self.init(meaning, .effect(effect))
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
                "The push wasn't sealed, or lost its member \"pushcrypt\" on the way.", name: "device-counted-unsealed",
                do: "Compare what your backend sends with what the device receives: a relay may drop members.")
        case .malformed:
            FailureText(
                "The payload isn't strict JSON, a member of pushcrypt is missing or has the wrong type, or there is no "
                    + "text for the user.", name: "device-counted-malformed",
                do: "Compare what the device receives with the sealed payload; give it to this command.",
                asks: (.keys, "shows whether the sealed message is right."))
        case .unsupportedVersion:
            FailureText(
                "The payload has a protocol version that this app doesn't know.", name: "device-counted-newer-version",
                do: "Update the app.")
        case .unknownKey:
            FailureText(
                "The phone doesn't have the key that it was sealed to, or doesn't pin the key that signed it.",
                name: "device-counted-unknown-key",
                do: "Compare the backend's record and its sender keys with the device's. Usually the app must register "
                    + "again.", asks: (.report, "lists the device's keys."))
        case .keyLocked:
            FailureText(
                "Keys can't be read until the phone is unlocked once after its start.", name: "device-counted-locked",
                do: "Nothing: this is normal until the user unlocks the device. Later pushes are restored.",
                isNormal: true)
        case .keyExpired:
            FailureText(
                "The key has expired.", name: "device-counted-expired-key",
                do: "Let the app register again, and check that it gets a valid set of sender keys.", namesKey: true)
        case .keyRevoked:
            FailureText(
                "The key was revoked.", name: "device-counted-revoked-key",
                do: "Seal to the newest record of the device, and sign with the current sender key.", namesKey: true)
        case .unsupportedSuite:
            FailureText(
                "The key is of a suite that this system doesn't have: suite 3 needs OpenSSL 3.5, or iOS 26.",
                name: "device-counted-unsupported-suite",
                do: "Let the app make a key of another suite and register again.")
        case .undecryptable:
            FailureText("Decryption or verification failed. pushcrypt diagnose can say why.", .ofPush)
        case .expired: FailureText("The message has expired.", .ofPush)
        case .notYetValid: FailureText("The message was sealed later than the phone's clock says it is.", .ofPush)
        case .replayed: FailureText("The phone has shown this message already.", .ofPush)
        case .retracted:
            FailureText(
                "The message was taken back before it was shown.", name: "device-counted-retracted",
                do: "Nothing: the sender asked for this.", isNormal: true)
        case .timedOut:
            FailureText(
                "The extension didn't finish in time, about 25 seconds.", name: "extension-timed-out",
                do: "Look for slow attachments and slow stages of the app; give them shorter time limits.")
        case .attachmentFailed:
            FailureText("An attachment couldn't be fetched in time, or isn't what was sealed.", .ofStages)
        case .internalError:
            FailureText(
                "The extension couldn't be set up, or couldn't reach its keys.", name: "extension-set-up-failed",
                do: "Check that the extension's entitlements name the same app group and keychain group as the app's, "
                    + "and that its resources contain sender-pins.json.", asks: (.app, "examines the project."))
        }
    }
}
