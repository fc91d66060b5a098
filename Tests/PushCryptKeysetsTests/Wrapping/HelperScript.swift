import Foundation
import PushCryptFiles
import PushCryptPrimitives
import PushCryptTestSupport

@testable import PushCryptKeysets

/// A helper program that wraps data keys: a script in a temporary folder.
struct HelperScript {
    let folder: TemporaryFolder
    private var path: String { folder.path + "/kms" }

    /// Prints a `W`, and the data key with the highest bit of each byte flipped.
    static let wrap = #"printf W; LC_ALL=C tr '\000-\377' '\200-\377\000-\177'"#
    static let unwrap = #"dd bs=1 skip=1 2>/dev/null | LC_ALL=C tr '\000-\377' '\200-\377\000-\177'"#

    /// - Parameters:
    ///   - wrap: the shell commands of `kms wrap`. They run in `folder`.
    ///   - unwrap: the shell commands of `kms unwrap`.
    init(wrap: String = Self.wrap, unwrap: String = Self.unwrap) throws {
        folder = try TemporaryFolder()
        let script = """
            cd '\(folder.path)' || exit 1
            case "$#$1" in
            1wrap) \(wrap) ;;
            1unwrap) \(unwrap) ;;
            *) exit 64 ;;
            esac
            """
        try Data(script.utf8).write(to: folder.file("kms"))
    }

    var command: WrapCommand { WrapCommand("sh '\(path)'") }
    var secret: KeysetSecret { .command("sh '\(path)'") }

    /// A command whose two minutes are over as soon as the helper has made the file `begun`.
    var hurriedCommand: WrapCommand {
        let (start, begun) = (ContinuousClock.now, folder.path + "/begun")
        return WrapCommand("sh '\(path)'", mayAsk: false) { FileSystem.exists(begun) ? start + .seconds(3_600) : start }
    }

    /// The text that the helper wrote to a file.
    func text(_ name: String) throws -> String {
        try String(contentsOf: folder.file(name), encoding: .utf8)
    }

    static let dataKey = SecretBytes(count: 32) { bytes in
        for index in bytes.indices { bytes[index] = UInt8(index * 8 + 3) }
    }
}
