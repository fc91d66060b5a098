import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets

struct BlobOpen: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Open an encrypted blob: the blob on stdin, the plaintext into a new file.",
        discussion: """
            The plaintext never goes to stdout: only the end of a blob shows that it is whole and its sender's, and \
            what a program further down has read by then can't be taken back. The file gets its name when everything \
            is verified. A payload comes with its padding, the spaces at its end.
            """
    )

    @Option(help: ArgumentHelp("What blob seal wrote as --reference.", valueName: "FILE"))
    var reference: String

    @Option(name: .customLong("from"), help: ArgumentHelp("The blob; - for stdin.", valueName: "FILE|-"))
    var source: String = "-"

    @Option(help: ArgumentHelp("Where the plaintext goes: a new file.", valueName: "FILE"))
    var output: String

    func validate() throws {
        try BlobSeal.requireFile(reference, "--reference")
        try BlobSeal.requireFile(output, "--output")
    }

    func run() throws {
        let opener = BlobOpener(try ReferenceFile(reference).blob)
        let reader = try PieceReader(source)
        let file = try NewFile(output)
        var plaintext: [UInt8] = []
        do {
            while let piece = try reader.next() {
                try opener.open(Array(piece), appendingTo: &plaintext)
                try file.append(plaintext)
                plaintext.removeAll(keepingCapacity: true)
            }
            try opener.finish()
        } catch let failure as FailureClass {
            throw Failure(failure == .internalError ? .software : .dataError, "not opened: \(failure)")
        }
        file.markWhole()
        try file.publish()
    }
}
