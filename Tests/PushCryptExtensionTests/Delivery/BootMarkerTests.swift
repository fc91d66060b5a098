import Foundation
import PushCryptFiles
import PushCryptPrimitives
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

    private func marker(_ boot: String?, time: Int64 = 1_800_000_000) -> FileBootMarker {
        var marker = FileBootMarker(path: path)
        marker.name = { boot }
        marker.time = { time }
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

    @Test(
        "without a boot name the marker returns true once for a time of the boot, although the clock is corrected by seconds",
        arguments: [0, -10, 10])
    func bootWithoutAName(_ correction: Int64) {
        #expect(marker(nil).markThisBoot())
        #expect(!marker(nil, time: 1_800_000_000 + correction).markThisBoot())
        #expect(marker(nil, time: 1_800_000_011).markThisBoot())
        #expect(marker(nil, time: 1_799_999_900).markThisBoot())
        #expect(marker("first").markThisBoot())
        #expect(marker(nil).markThisBoot())
    }

    @Test(
        "the marker returns true for a file with anything else in the place of a boot",
        arguments: ["", "9223372036854775807", "x"])
    func otherContent(_ text: String) throws {
        for name in [nil, "first"] {
            try Data(text.utf8).write(to: folder.file("boot"))
            #expect(marker(name).markThisBoot())
            #expect(!marker(name).markThisBoot())
        }
    }

    @Test("the time of the boot doesn't change while the system runs")
    func systemsOwnTime() {
        #expect(abs(BootSession.time - BootSession.time) <= 1)
        #expect(BootSession.time < SystemClock.secondsSince1970)
    }

    @Test("a marker that can't be written always returns true")
    func folderThatIsNotThere() {
        var marker = FileBootMarker(path: path + "/none/boot")
        marker.name = { "first" }
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
