import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptKeysets
import PushCryptSender

/// Unlocks keysets, seals and opens with them, and closes them. See Tests/deep/memory/run.
///
///     PushCryptMemory FOLDER
///
/// FOLDER contains Keys/ios, Keys/master and Keys/push, and the file `passphrase`. The program prints `held` while it has the
/// keys, `idle` after it has freed them but not ended the thread that used them, and `closed` after that. It waits for a line
/// after each.
@main struct Memory {
    static func main() {
        let folder = CommandLine.arguments.last ?? "."
        // OpenSSL's contexts of a thread hold the key of its last message until the thread ends: a key of one message, not of
        // a keyset.
        let thread = WorkerThread {
            do {
                try useKeys(in: folder)
            } catch {
                fail("\(error)")
            }
            pause("idle")
        }
        thread.join()
        pause("closed")
    }

    /// A function, so that the keys are freed when it returns.
    @inline(never) private static func useKeys(in folder: String) throws {
        let keys = try HeldKeys(folder: folder)
        try keys.use()
        pause("held")
    }

    /// Prints a line and waits for one.
    private static func pause(_ state: String) {
        FileHandle.standardOutput.write(Data((state + "\n").utf8))
        _ = FileHandle.standardInput.readData(ofLength: 1)
    }

    private static func fail(_ reason: String) -> Never {
        FileHandle.standardError.write(Data((reason + "\n").utf8))
        exit(1)
    }
}

/// The keys of a recipient, of a backend and of a device.
struct HeldKeys {
    private static let topic = "com.example.app"
    private static let inner = Array(#"{"aps":{"alert":"Results"}}"#.utf8)

    private let secret: KeysetSecret
    private let recipient, master, device, sender: Keyset
    private let time = UnixTime.now

    init(folder: String) throws {
        secret = try KeysetSecret.passphraseFile(folder + "/passphrase")
        recipient = try Keyset(file: folder + "/Keys/ios", secret: secret)
        master = try Keyset(file: folder + "/Keys/master", secret: secret)
        sender = try Keyset(file: folder + "/Keys/push", secret: secret)
        device = try master.device(DeviceID("phone-1"))
    }

    /// Seals and opens a signed message to each.
    func use() throws {
        let sealer = try Sealer(topic: Self.topic, signer: .key(sender.senderKey(at: time)))
        let pinned = try TrustedSenders(sender.publicKeyset(keepingPSK: false))
        for (sealing, opening) in [
            (try recipient.publicKeyset(keepingPSK: true), recipient), (master, master), (device, device),
        ] {
            let push = try sealer.seal(Self.inner, to: sealing.recipient(at: time), placeholder: .standard)
            let opener = try Opener(topic: Self.topic, keyring: KeysetKeyring(opening), senders: .pinned(pinned))
            guard try opener.open(Array(push.json), at: time).get().payload == Self.inner else {
                throw FailureClass.undecryptable
            }
        }
    }
}

/// A thread whose end another thread awaits, with its thread-local values destroyed.
final class WorkerThread {
    private var thread = pthread_t()

    init(_ body: @escaping @Sendable () -> Void) {
        let argument = unsafe Unmanaged.passRetained(Box(body)).toOpaque()
        let result = unsafe pthread_create(&thread, nil, runBox, argument)
        precondition(result == 0, "no thread")
    }

    func join() { _ = pthread_join(thread, nil) }
}

private final class Box {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private func runBox(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let argument = unsafe argument { unsafe Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body() }
    return nil
}
