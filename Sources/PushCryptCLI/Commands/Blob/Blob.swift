import ArgumentParser

struct Blob: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Seal and open what a push only refers to: attachments and long payloads.",
        subcommands: [BlobSeal.self, BlobOpen.self]
    )
}
