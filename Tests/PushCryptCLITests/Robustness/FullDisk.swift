import Foundation
import Testing

/// A small tmpfs in a mount namespace. It disappears when the script ends.
enum FullDisk {
    static let missing: Comment = "no file system can be mounted here: it needs root, or user namespaces (unshare -rm)"

    private static let unshare = geteuid() == 0 ? "unshare -m" : "unshare -rm"

    static let isAvailable = (try? run("true", in: Workplace()))?.exit == 0

    /// Runs a script of /bin/sh in a new file system of 64 pages of 4,096 bytes, mounted at `disk` below `place`, which
    /// is also the working directory. The script can call `fill N`, which leaves N pages free, and `make_room`.
    static func run(_ script: String, in place: Workplace) throws -> Output {
        try place.makeFolder("disk")
        try place.write(Data((functions + script).utf8), to: "script")
        return try place.shell("\(unshare) sh ./script")
    }

    private static let functions = """
        mount -t tmpfs -o size=256k,mode=700 tmpfs disk || exit 1
        fill() {
            cat /dev/zero >disk/fill 2>/dev/null
            truncate -s $(($(stat -c %s disk/fill) - $1 * 4096)) disk/fill
        }
        make_room() { rm disk/fill; }

        """
}
