import Foundation
import PushCryptFiles
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// The marker marks once per boot, also in consecutive processes.
@Suite struct BootMarkerTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("boot").path }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func marker(_ boot: String?) -> FileBootMarker {
        var marker = FileBootMarker(path: path)
        marker.boot = { boot }
        return marker
    }

    @Test("the marker returns true once per boot")
    func oncePerBoot() {
        #expect(marker("first").markThisBoot())
        #expect(!marker("first").markThisBoot())
        #expect(marker("second").markThisBoot())
        #expect(!marker("second").markThisBoot())
        // A repeated name belongs to another boot.
        #expect(marker("first").markThisBoot())
    }

    @Test("without a boot name the marker always returns true")
    func bootWithoutAName() {
        #expect(marker(nil).markThisBoot())
        #expect(marker(nil).markThisBoot())
    }

    @Test("a marker that can't be written always returns true")
    func folderThatIsNotThere() {
        var marker = FileBootMarker(path: path + "/none/boot")
        marker.boot = { "first" }
        #expect(marker.markThisBoot())
        #expect(marker.markThisBoot())
    }

    @Test("the system's boot name doesn't change, and the marker returns true once for it")
    func systemsOwnName() throws {
        let name = try #require(BootSession.name)
        #expect(!name.isEmpty)
        #expect(name == BootSession.name)
        let marker = FileBootMarker(path: path)
        #expect(marker.markThisBoot())
        #expect(!marker.markThisBoot())
    }
}
