public import Foundation
public import PushCryptCore
public import PushCryptExtension
public import PushCryptPrimitives

#if !canImport(Darwin)
import UserNotifications
#endif

/// What the app and its extension share. Both targets make this value from the name of their app group, and it has all other
/// names: the files below, the keychain group and the topic.
///
/// ```
/// FOLDER/pushes         shown messages and counters            SharedStore
/// FOLDER/senders        the trusted sender keys                SenderPins
/// FOLDER/registration   a digest of the last upload            PushRegistration
/// FOLDER/attachments    files that the system hasn't taken     AttachmentStage
/// FOLDER/avatars        pictures of senders                    AvatarFetcher
/// FOLDER/preview        how much the recipient wants shown     PreviewChoice
/// FOLDER/receipts       receipts that the system is posting    BackgroundReceipts
/// FOLDER/boot           when the unlock notice was shown       UnlockNotice
/// ```
public struct AppGroup: Hashable, Sendable {
    /// The group in the entitlements, such as `group.com.example.app`.
    public let identifier: String
    /// The folder that the app and its extension share.
    public let folder: URL
    /// The keychain access group of the device's keys.
    public let keychainGroup: String
    /// The app's bundle identifier, in the extension too: the topic that pushes are sealed for.
    public let topic: String
    /// How long the device's keys are used.
    public let keyPeriod: KeyPeriod

    /// Finds the group's folder and the app's bundle identifier.
    ///
    /// - Parameters:
    ///   - identifier: the group in the entitlements of both targets, which begins with `group.`.
    ///   - keychainGroup: a keychain access group of both targets with its prefix, `TEAMID.com.example.shared`, if the keys
    ///     aren't in the app group's own keychain group. A Mac has no such group, so macOS and Mac Catalyst need this value. So
    ///     does an app whose earlier version used a keychain access group.
    ///   - keyPeriod: how long the device's keys are used. After a change the app registers a new key.
    /// - Throws: ``ExtensionSetupError`` with `notEntitled` if the running target's entitlements don't name the group (a
    ///   Mac doesn't check this), `noIdentifier` if the app's Info.plist has no bundle identifier.
    public init(_ identifier: String, keychainGroup: String? = nil, keyPeriod: KeyPeriod = .renewed()) throws {
        let manager = FileManager.default
        guard let folder = manager.containerURL(forSecurityApplicationGroupIdentifier: identifier) else {
            throw ExtensionSetupError(.notEntitled, "the entitlements don't name the app group \(identifier)")
        }
        guard let topic = Bundle.containingApp.appIdentifier else {
            throw ExtensionSetupError(.noIdentifier, "the app's Info.plist has no CFBundleIdentifier")
        }
        self.init(identifier, folder: folder, keychainGroup: keychainGroup, topic: topic, keyPeriod: keyPeriod)
    }

    /// Uses given values, for tests and for systems without app groups.
    public init(
        _ identifier: String, folder: URL, keychainGroup: String? = nil, topic: String,
        keyPeriod: KeyPeriod = .renewed()
    ) {
        self.identifier = identifier
        self.folder = folder
        self.keychainGroup = keychainGroup ?? identifier
        self.topic = topic
        self.keyPeriod = keyPeriod
    }

    /// Returns the path of a file or folder in the group's folder.
    public func path(of name: String) -> String { folder.appendingPathComponent(name).path }
}

extension AppGroup {
    /// The store of shown messages and counters. All calls of a process with the same folder and role return the same object,
    /// as the store requires.
    public func store(_ role: SharedStore.Role) -> SharedStore {
        SharedStores.ofThisProcess.store(folder: path(of: "pushes"), role)
    }

    /// How much the recipient wants to be shown: `ExtensionConfiguration.preview`, which the app's settings write.
    public var previewChoice: PreviewChoice { PreviewChoice(path: path(of: "preview")) }

    /// The trusted sender keys: the set that the app accepted last.
    ///
    /// - Parameters:
    ///   - resource: the name of the pins in the app's resources, without `.json`.
    ///   - graceInSeconds: how long a set is used after its `validUntil`; the same in both targets.
    /// - Throws: ``ExtensionSetupError`` with `missingResource`; `KeyError` for a file that doesn't have the form of pins, or
    ///   with `invalidTopic`.
    public func senderPins(resource: String = "sender-pins", graceInSeconds: Int64 = 0) throws -> SenderPins {
        try SenderPins(
            folder: path(of: "senders"), publishers: SenderSetPins(resource: resource), topic: topic,
            graceInSeconds: graceInSeconds)
    }

    /// Fetches the pictures of senders, `ExtensionConfiguration.avatars`.
    ///
    /// - Parameter hosts: the only hosts that are asked, also by redirects; in lower case, without port.
    public func avatars(from hosts: Set<String>) -> AvatarFetcher {
        AvatarFetcher(
            folder: path(of: "avatars"), hosts: hosts,
            transport: URLSessionTransport(policy: TransferPolicy(allowedHosts: hosts)))
    }

    /// A text for pushes before the device's first unlock, shown once per boot.
    public func unlockNotice(_ text: Placeholder) -> UnlockNotice {
        UnlockNotice(text, marker: FileBootMarker(path: path(of: "boot")))
    }
}

#if canImport(Security)
extension AppGroup {
    /// The device's keys. New P-256 pairs are made in the Secure Enclave if the device has one.
    public var keyring: KeychainKeyring {
        KeychainKeyring(
            accessGroup: keychainGroup, usesSecureEnclave: EnclaveKeys.areAvailable, period: keyPeriod)
    }
}

extension ExtensionConfiguration {
    /// Creates the configuration of an app group: with its topic, keys and store, with attachments, and with the recipient's
    /// choice of what is shown. It shows each push once, and counts the results.
    ///
    /// - Parameters:
    ///   - senders: usually `.pinned(group.senderPins())`.
    ///   - carriers: the ways of the app's pushes.
    ///   - fallback: the text for a push that can't be restored.
    /// - Throws: `KeyError` with `invalidTopic`.
    public init(
        _ group: AppGroup, senders: SenderTrust, carriers: Set<Carrier> = [.apns], fallback: Fallback
    ) throws {
        try self.init(
            topic: group.topic, keyring: group.keyring, senders: senders, carriers: carriers, fallback: fallback)
        store = group.store(.extension)
        preview = group.previewChoice
        attachments = AttachmentStage(
            configuration: .init(folder: group.path(of: "attachments")), transport: URLSessionTransport())
    }
}

extension PushRegistration {
    /// Creates the registration of an app group, with its keys and store. It can answer the challenges of a backend that asks
    /// for a proof: ``Upload/answer(_:host:)``.
    ///
    /// - Parameters:
    ///   - senders: nil if the extension accepts unsigned pushes.
    ///   - trust: the senders whose challenges the app answers: those that the extension trusts. If it is nil, they are the
    ///     keys of `senders`; if that is nil too, unsigned challenges are answered.
    ///   - upload: sends the record to your backend as the signed-in user; throws unless the backend has stored it.
    /// - Throws: `KeyError` with `invalidTopic`.
    public init(
        _ group: AppGroup, senders: SenderSet?, trust: SenderTrust? = nil,
        upload: @escaping @Sendable (Upload) async throws -> Void
    ) throws {
        let keyring = group.keyring
        let trust = trust ?? senders?.trust ?? .unsigned
        self.init(
            identity: DeviceIdentity(storage: keyring), folder: group.path(of: "registration"), senders: senders,
            store: group.store(.app), opener: try Opener(topic: group.topic, keyring: keyring, senders: trust),
            upload: upload)
    }
}
#endif

/// The stores that this process uses. A store remembers messages in memory while its file can't be written, so two objects
/// for one file would know different messages.
private final class SharedStores: Sendable {
    static let ofThisProcess = SharedStores()

    private struct Key: Hashable {
        let folder: String
        let role: SharedStore.Role
    }

    private struct Reference {
        weak var store: SharedStore?
    }

    private let stores = Locked<[Key: Reference]>([:])

    func store(folder: String, _ role: SharedStore.Role) -> SharedStore {
        stores.withLock { stores in
            if let store = stores[Key(folder: folder, role: role)]?.store { return store }
            let store = SharedStore(folder: folder, role: role)
            stores = stores.filter { $0.value.store != nil }
            stores[Key(folder: folder, role: role)] = Reference(store: store)
            return store
        }
    }
}

extension Bundle {
    var appIdentifier: String? {
        #if canImport(Darwin)
        bundleIdentifier
        #else
        stubIdentifier
        #endif
    }
}

extension Bundle {
    /// The version and the build in the Info.plist, such as `1.4 (77)`.
    var version: String {
        let values = ["CFBundleShortVersionString", "CFBundleVersion"].map {
            object(forInfoDictionaryKey: $0) as? String ?? "?"
        }
        return "\(values[0]) (\(values[1]))"
    }
}

/// Why an extension can't be set up. The user sees the push's placeholder.
public struct ExtensionSetupError: DescribedError, Hashable, Sendable {
    /// The kind of failure; more may be added.
    public struct Code: Hashable, Sendable {
        let name: String

        /// The running target's entitlements don't name the app group, or the name is misspelt.
        public static let notEntitled = Code(name: "notEntitled")
        /// The app's Info.plist has no bundle identifier.
        public static let noIdentifier = Code(name: "noIdentifier")
        /// The app's resources don't contain a file.
        public static let missingResource = Code(name: "missingResource")
        /// `configure()` isn't overridden.
        public static let notConfigured = Code(name: "notConfigured")
    }

    /// The kind of failure.
    public let code: Code
    /// What failed, for logs.
    public let reason: String

    /// Creates an error.
    public init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The reason.
    public var description: String { reason }
}
