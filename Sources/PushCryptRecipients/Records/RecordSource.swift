/// Where records are looked up, for one thread.
protocol RecordSource: AnyObject {
    var path: String { get }

    /// The record of exactly that name; nil where there is none.
    func record(_ name: RecordName) throws(RecipientDirectoryError) -> FoundRecord?

    /// All records one after the other, in the order of their names.
    ///
    /// - Parameter body: is handed the text as it stands, which it wipes; nil where that isn't to be had.
    func visitAll(_ body: (SourceEntry) throws -> Void) throws
}

/// One record of a source, whatever it is worth.
struct SourceEntry {
    let kid: String
    let device: String
    var text: [UInt8]
    let outcome: Result<FoundRecord, RecipientDirectoryError>
}
