import Foundation
import PushCryptFiles
import PushCryptKeysets
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

@Suite("Inheritance of wrap commands", .enabled(if: FileSystem.isFolder("/proc/self/fd"), "no /proc"))
struct HelperInheritanceTests {
    @Test("a command inherits only its three standard streams")
    func descriptors() throws {
        let place = try TemporaryFolder()
        let folder = try Folder(place.path)
        try folder.lock(.exclusive)
        // Without O_CLOEXEC, as a passphrase's descriptor is inherited.
        let descriptors = (0..<3).map { _ in unsafe open("/dev/null", O_RDONLY) }
        defer { for descriptor in descriptors { close(descriptor) } }
        #expect(descriptors.allSatisfy { $0 > 2 })
        // The command has no script and no pipe, for which the shell would have descriptors open. `exec` replaces the shell,
        // which closes the folder that it lists. `readlink` prints a line for each descriptor that is still open.
        let command = "exec readlink /proc/self/fd/* >'\(place.path)/descriptors'"
        #expect(throws: KeystoreError.self) { try WrapCommand(command).wrap(HelperScript.dataKey) }
        let inherited = try String(contentsOf: place.file("descriptors"), encoding: .utf8).split(separator: "\n")
        #expect(inherited.count == 3, "\(inherited)")
        withExtendedLifetime(folder) {}
    }

    @Test("a command inherits no descriptor that another thread opens while the command starts")
    func descriptorsOfOtherThreads() async throws {
        let place = try TemporaryFolder()
        let isDone = Locked(false)
        let opener = Thread {
            while !isDone.withLock({ $0 }) {
                let descriptors = (0..<50).map { _ in unsafe open("/dev/null", O_RDONLY) }
                for descriptor in descriptors { close(descriptor) }
            }
        }
        opener.start()
        defer { isDone.withLock { $0 = true } }
        let command = "exec readlink /proc/self/fd/* >>'\(place.path)/descriptors'"
        for _ in 0..<30 {
            #expect(throws: KeystoreError.self) { try WrapCommand(command).wrap(HelperScript.dataKey) }
        }
        let inherited = try String(contentsOf: place.file("descriptors"), encoding: .utf8).split(separator: "\n")
        #expect(inherited.count == 3 * 30)
    }

    /// Threads of a server block signals. A helper that inherited this would wait for its children for ever.
    @Test("a command starts with no blocked signals and without ignoring SIGPIPE")
    func signals() throws {
        let helper = try HelperScript(wrap: "cp /proc/self/status .; \(HelperScript.wrap)")
        var (all, old) = (sigset_t(), sigset_t())
        _ = unsafe sigfillset(&all)
        _ = unsafe pthread_sigmask(SIG_BLOCK, &all, &old)
        defer { _ = unsafe pthread_sigmask(SIG_SETMASK, &old, nil) }
        _ = try helper.command.wrap(HelperScript.dataKey)
        let status = try helper.text("status").split(separator: "\n")
        #expect(status.contains("SigBlk:\t0000000000000000"))
        let ignored = try #require(status.first { $0.hasPrefix("SigIgn:") }.flatMap { Int($0.dropFirst(8), radix: 16) })
        #expect(ignored & 1 << (SIGPIPE - 1) == 0)
    }

    @Test("a command inherits the environment")
    func environment() throws {
        let helper = try HelperScript(wrap: "printenv PATH >path; \(HelperScript.wrap)")
        _ = try helper.command.wrap(HelperScript.dataKey)
        let path = try #require(ProcessInfo.processInfo.environment["PATH"])
        #expect(try helper.text("path") == path + "\n")
    }

    @Test("a command leaves no open descriptor in this process")
    func leaks() throws {
        let helper = try HelperScript(wrap: "exit 1")
        let own = "/proc/self/fd"
        // Other tests open files at the same time. A leak of one descriptor would add 100.
        let before = try FileSystem.names(in: own).count
        for _ in 0..<100 { _ = try? helper.command.wrap(HelperScript.dataKey) }
        #expect(try FileSystem.names(in: own).count < before + 100)
    }
}
