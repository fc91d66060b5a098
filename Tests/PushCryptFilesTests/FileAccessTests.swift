import PushCryptFiles
import Testing

@Suite("FileAccess")
struct FileAccessTests {
    @Test(
        "a file or folder is private if it belongs to the user or to root and its mode keeps others out",
        arguments: [
            (owner: 7, mode: 0o600, user: 7, flaw: nil), (0, 0o600, 7, nil), (0, 0o600, 0, nil),
            (8, 0o600, 7, .foreignOwner), (7, 0o600, 0, .foreignOwner), (8, 0o666, 7, .foreignOwner),
            (7, 0o640, 7, .looseMode), (7, 0o604, 7, .looseMode), (0, 0o601, 7, .looseMode), (0, 0o640, 7, .looseMode),
        ] as [(owner: UInt32, mode: UInt32, user: UInt32, flaw: FileError.Code?)])
    func ownerOnly(_ test: (owner: UInt32, mode: UInt32, user: UInt32, flaw: FileError.Code?)) {
        #expect(Self.flaw(.ownerOnly, test.owner, test.mode, test.user)?.code == test.flaw)
    }

    @Test("ownerOrRootsGroup lets the group read files of root, and no other files")
    func groupOfRoot() {
        #expect(Self.flaw(.ownerOrRootsGroup, 0, 0o640, 7) == nil)
        #expect(Self.flaw(.ownerOrRootsGroup, 0, 0o440, 7) == nil)
        for mode in [0o660, 0o650, 0o644] as [UInt32] {
            #expect(Self.flaw(.ownerOrRootsGroup, 0, mode, 7)?.code == .looseMode)
        }
        #expect(Self.flaw(.ownerOrRootsGroup, 7, 0o640, 7)?.code == .looseMode)
        #expect(Self.flaw(.ownerOrRootsGroup, 8, 0o600, 7)?.code == .foreignOwner)
    }

    @Test("othersMayRead lets other users read but not write, and refuses files of another owner")
    func readers() {
        #expect(Self.flaw(.othersMayRead, 7, 0o755, 7) == nil)
        for mode in [0o775, 0o757] as [UInt32] { #expect(Self.flaw(.othersMayRead, 7, mode, 7)?.code == .looseMode) }
        #expect(Self.flaw(.othersMayRead, 8, 0o755, 7)?.code == .foreignOwner)
    }

    @Test("the error names the path, the fault, and the user to work as or the command that corrects it")
    func reason() {
        let owner = Self.flaw(.ownerOnly, 8, 0o600, 7)?.reason
        #expect(owner == "a/b belongs to user 8, who can change it at any time: work as that user")
        let modes = [
            (FileAccess.Rule.ownerOnly, false, "open", "chmod 600 a/b"), (.ownerOnly, true, "open", "chmod 700 a/b"),
            (.othersMayRead, true, "change", "chmod go-w a/b"),
        ]
        let mounted = Self.flaw(.ownerOrRootsGroup, 0, 0o444, 7)?.reason
        #expect(
            mounted
                == "users other than the owner can open a/b; correct it with: chmod 600 a/b (a secret that Kubernetes "
                + "mounts: defaultMode: 0400)")
        for (rule, isFolder, verb, advice) in modes {
            let reason = Self.flaw(rule, 7, 0o777, 7, isFolder: isFolder)?.reason
            #expect(reason == "users other than the owner can \(verb) a/b; correct it with: \(advice)")
        }
    }

    private static func flaw(
        _ rule: FileAccess.Rule, _ owner: UInt32, _ mode: UInt32, _ user: UInt32, isFolder: Bool = false
    ) -> FileError? {
        do throws(FileError) {
            try FileAccess(owner: owner, mode: mode, isFolder: isFolder).check(rule, "a/b", user: user)
            return nil
        } catch {
            return error
        }
    }
}
