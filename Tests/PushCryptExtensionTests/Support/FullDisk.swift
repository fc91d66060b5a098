import Foundation
import PushCryptTestSupport
import Testing

/// A file system that is removed with the script.
enum FullDisk {
    static let missing: Comment = "mounting a file system needs root or user namespaces (unshare -rm)"

    static let isAvailable = (try? ExtensionProcess.shell(script("true")))?.ending == .exit(0)

    /// A script in which `fill N` fills the disk except for N pages, and `make_room` empties it.
    ///
    /// - Parameter size: in KiB; 64 pages of 4,096 bytes by default.
    static func script(_ body: String, size: Int = 256) -> String {
        """
        cat >script <<'END'
        mkdir disk && mount -t tmpfs -o size=\(size)k,mode=700 tmpfs disk || exit 1
        fill() {
            cat /dev/zero >disk/fill 2>/dev/null
            truncate -s $(($(stat -c %s disk/fill) - $1 * 4096)) disk/fill
        }
        make_room() { rm disk/fill; }
        \(body)
        END
        \(geteuid() == 0 ? "unshare -m" : "unshare -rm") sh ./script
        """
    }
}

/// A file system in memory for the processes that enter it, which the tests fill.
final class SmallDisk {
    /// The path of its root for processes that have entered it.
    let path: String
    /// The path of its root for other processes. SQLite can't use it, because it resolves links.
    let outerPath: String
    /// The words before a command that enters it.
    let entrance: [String]
    private let keeper: pid_t
    private let process: RunningExtension

    /// - Parameter size: in KiB.
    init(size: Int) throws {
        let script = FullDisk.script("echo $$; pwd; exec sleep 86400", size: size)
        process = try ExtensionProcess.start(script: script)
        guard let keeper = process.line().flatMap({ pid_t($0) }), let folder = process.line() else {
            throw ChildProcess.Failure(call: "mount", number: 0)
        }
        self.keeper = keeper
        path = folder + "/disk"
        outerPath = "/proc/\(keeper)/root\(path)"
        entrance =
            ["/usr/bin/nsenter", "-t", "\(keeper)", "-m"] + (geteuid() == 0 ? [] : ["-U", "--preserve-credentials"])
    }

    deinit { kill(keeper, SIGKILL) }

    /// - Parameter pages: how many pages of 4,096 bytes stay free.
    func fill(exceptPages pages: Int) throws {
        let file = unsafe open(outerPath + "/fill", O_WRONLY | O_CREAT, 0o600)
        defer { close(file) }
        let zeros = [UInt8](repeating: 0, count: 4_096)
        var count = 0
        while unsafe write(file, zeros, zeros.count) == zeros.count { count += 1 }
        guard count > pages, ftruncate(file, (count - pages) * zeros.count) == 0 else {
            throw ChildProcess.Failure(call: "ftruncate", number: errno)
        }
    }

    func makeRoom() throws { try FileManager.default.removeItem(atPath: outerPath + "/fill") }
}
