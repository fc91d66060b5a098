#if DEBUG
import PushCryptFiles
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// On Apple's systems the files that an extension writes while the device is locked must be readable then.
@Suite struct ProtectedFilesTests {
    private let temporary = TemporaryFolder.make()

    private func protected(_ body: () throws -> Void) rethrows -> [String] {
        let paths = Locked<[String]>([])
        let observer: @Sendable (String) -> Void = { path in paths.withLock { $0.append(path) } }
        try FileProtection.$observer.withValue(observer) { try body() }
        return paths.withLock { $0 }
    }

    @Test("the store's folder gets its protection class at the first use of each process, whether it exists or not")
    func store() throws {
        let path = temporary.path + "/store"
        for _ in 0..<2 {
            let paths = try protected { _ = try SharedStore(folder: path, role: .extension).statistics() }
            #expect(Set(paths) == [path])
        }
    }

    @Test("the folder of attachments and each file in it get their protection class before the first byte is written")
    func attachments() throws {
        let folder = AttachmentFolder(path: temporary.path + "/attachments")
        let paths = try protected { try folder.makePartFile().write([1]) }
        #expect(paths.count == 2)
        #expect(paths.first == folder.path)
        #expect(paths.last?.hasPrefix(folder.path + "/") == true)
        #expect(paths.last?.hasSuffix(".part") == true)
    }
}
#endif
