import Foundation
import PushCryptFiles
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// The marker marks once per boot, also in consecutive processes.
@Suite struct BootMarkerTests {
    private let folder = TemporaryFolder.make()

    private func marks(_ boot: String?, time: Int64 = 1_800_000_000, in file: String = "boot") -> Bool {
        var marker = FileBootMarker(path: folder.file(file).path)
        marker.name = { boot }
        marker.time = { time }
        return marker.markThisBoot()
    }

    @Test("the marker returns true once per boot, and a repeated name belongs to another boot")
    func oncePerBoot() {
        #expect(["first", "first", "second", "second", "first"].map { marks($0) } == [true, false, true, false, true])
    }

    @Test("without a boot name the time of the boot counts, give or take seconds", arguments: [0, -10, 10])
    func bootWithoutAName(_ correction: Int64) {
        #expect(marks(nil))
        #expect(!marks(nil, time: 1_800_000_000 + correction))
        #expect(marks(nil, time: 1_800_000_011))
        #expect(marks(nil, time: 1_799_999_900))
        #expect(marks("first"))
        #expect(marks(nil))
    }

    @Test("a file with anything else marks no boot", arguments: ["", "9223372036854775807", "x"], [nil, "first"])
    func otherContent(_ text: String, _ boot: String?) throws {
        try Data(text.utf8).write(to: folder.file("boot"))
        #expect(marks(boot) && !marks(boot))
    }

    @Test("a marker that can't be written always returns true")
    func folderThatIsNotThere() {
        #expect(marks("first", in: "none/boot") && marks("first", in: "none/boot"))
    }

    @Test("the system's name and time of the boot don't change, and the marker returns true once for them")
    func system() throws {
        #expect(abs(BootSession.time - BootSession.time) <= 1 && BootSession.time < SystemClock.secondsSince1970)
        let name = try #require(BootSession.name)
        #expect(!name.isEmpty && name == BootSession.name)
        let marker = FileBootMarker(path: folder.file("boot").path)
        #expect(marker.markThisBoot())
        #expect(!marker.markThisBoot())
    }
}
