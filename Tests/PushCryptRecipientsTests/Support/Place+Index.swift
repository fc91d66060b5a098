import Foundation
import PushCryptSQLite
import PushCryptTestSupport

@testable import PushCryptRecipients

extension Place {
    func changeIndex(_ sql: StaticString) throws {
        try Database(path: path + ".index", busyTimeout: .zero).run(sql)
    }

    /// Nobody can make an index beside the file any more, root neither.
    func obstructIndex() throws {
        let folder = self.folder.file(name + ".index.new")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        try Data().write(to: folder.appendingPathComponent("full"))
    }
}

extension RecipientDirectory {
    var indexPath: String? { if case .lines(_, let index) = content { index.path } else { nil } }
}
