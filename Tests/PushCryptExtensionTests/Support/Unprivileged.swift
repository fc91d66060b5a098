import Foundation
import Testing

/// Runs the tests' executable as a user who isn't root. Root may read and write every file.
enum Unprivileged {
    static let missing: Comment = "root can't run the executable as another user here (setpriv)"
    /// The id of the unprivileged user and group on Debian, `nobody` and `nogroup`.
    static let userID: uid_t = 65_534

    /// The beginning of the shell's command line; empty if this process isn't root's.
    static let prefix = geteuid() == 0 ? "setpriv --reuid=\(userID) --regid=\(userID) --clear-groups" : ""

    static let isAvailable =
        (try? ExtensionProcess.shell("\(prefix) \"$EXTENSION\" store-try /none/none a"))?.lines.isEmpty == false
}
