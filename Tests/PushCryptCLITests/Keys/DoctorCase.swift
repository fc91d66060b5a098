import Foundation
import Testing

/// A defect of a keystore and the finding of `keys doctor` that it causes.
struct DoctorCase: Sendable, CustomTestStringConvertible {
    let code: String
    let severity: String
    let testDescription: String
    /// A part of the message.
    let words: String
    /// A part of the advice.
    let advice: String
    /// The codes of other findings that the defect causes.
    var others: [String] = []
    var time = Workplace.now
    /// Whether the files' times are set to `now`.
    var settles = true
    let damage: @Sendable (Workplace) throws -> Void

    static let verify = "pushcrypt keys verify Keys/ios"

    static let all = modes + links + files + keysets + contents + lifecycles + times

    static let modes = [
        DoctorCase(
            code: "loose-mode", severity: "error", testDescription: "a folder that other users can open",
            words: "users other than the owner can open the folder",
            advice: "chmod 700 Keys/ios"
        ) { try $0.setMode(0o755, of: "Keys/ios") },
        DoctorCase(
            code: "loose-mode", severity: "error", testDescription: "a keyset that other users can read",
            words: "users other than the owner can open keyset.json", advice: "chmod 600 Keys/ios/keyset.json"
        ) { try $0.setMode(0o640, of: "Keys/ios/keyset.json") },
        DoctorCase(
            code: "loose-mode", severity: "error", testDescription: "a log that other users can read",
            words: "users other than the owner can open audit.jsonl",
            advice: "chmod 600 Keys/ios/audit.jsonl"
        ) { try $0.setMode(0o604, of: "Keys/ios/audit.jsonl") },
        DoctorCase(
            code: "loose-mode", severity: "warning", testDescription: "a public set that others may write",
            words: "users other than the owner can change public.jwks.json",
            advice: "chmod 644 Keys/ios/public.jwks.json"
        ) { try $0.setMode(0o664, of: "Keys/ios/public.jwks.json") },
        DoctorCase(
            code: "loose-mode", severity: "warning", testDescription: "a keystore that others may write",
            words: "users other than the owner can add keysets to this folder", advice: "chmod go-w Keys"
        ) { try $0.setMode(0o775, of: "Keys") },
    ]

    static let links = [
        DoctorCase(
            code: "symbolic-link", severity: "error", testDescription: "a link to a keyset",
            words: "a symbolic link to a keyset",
            advice: "rm Keys/link  # the keyset itself is in this keystore, too"
        ) { _ = try $0.shell("ln -s ios Keys/link") },
        DoctorCase(
            code: "symbolic-link", severity: "error", testDescription: "a link to a keyset in another place",
            words: "a symbolic link to a keyset", advice: "replace the link with the folder"
        ) { place in
            try place.create("Other/old", "sender")
            _ = try place.shell("ln -s ../Other/old Keys/link")
        },
        DoctorCase(
            code: "symbolic-link", severity: "error", testDescription: "a link in place of the keyset",
            words: "keyset.json is a symbolic link", advice: "replace the link with the file", others: ["foreign-file"]
        ) { _ = try $0.shell("mv Keys/ios/keyset.json Keys/real && ln -s ../real Keys/ios/keyset.json") },
        DoctorCase(
            code: "symbolic-link", severity: "error", testDescription: "a link in place of the log",
            words: "audit.jsonl is a symbolic link", advice: "replace the link with the file", others: ["foreign-file"]
        ) { _ = try $0.shell("mv Keys/ios/audit.jsonl Keys/real && ln -s ../real Keys/ios/audit.jsonl") },
        DoctorCase(
            code: "symbolic-link", severity: "warning", testDescription: "a link beside the keyset's files",
            words: "other is a symbolic link", advice: "replace the link with the file"
        ) { _ = try $0.shell("ln -s keyset.json Keys/ios/other") },
        DoctorCase(
            code: "foreign-file", severity: "error", testDescription: "a folder in place of the log",
            words: "audit.jsonl is not a file", advice: "move it to another place"
        ) { _ = try $0.shell("rm Keys/ios/audit.jsonl; mkdir -m 700 Keys/ios/audit.jsonl") },
    ]

    static let files = [
        DoctorCase(
            code: "foreign-file", severity: "note", testDescription: "a file in a keyset",
            words: "notes.txt is not a file of the keyset", advice: "move it to another place"
        ) { try $0.write(Data(), to: "Keys/ios/notes.txt", mode: 0o644) },
        DoctorCase(
            code: "foreign-file", severity: "note", testDescription: "a file in a keystore",
            words: "not a file of a keystore", advice: "move it to another place"
        ) { try $0.write(Data(), to: "Keys/notes.txt", mode: 0o644) },
        DoctorCase(
            code: "foreign-file", severity: "note", testDescription: "a folder without a keyset",
            words: "a folder without a keyset", advice: "move it to another place"
        ) { try $0.makeFolder("Keys/empty") },
        DoctorCase(
            code: "misplaced", severity: "warning", testDescription: "a keyset in a hidden folder",
            words: "doesn't rotate this keyset: the name of its folder begins with a dot",
            advice: "mv Keys/.old Keys/old"
        ) { place in
            try place.create("Keys/old", "sender")
            try place.move("Keys/old", to: "Keys/.old")
        },
        DoctorCase(
            code: "misplaced", severity: "warning", testDescription: "a keyset in a folder of the keystore",
            words: "Keys` doesn't rotate this keyset: it isn't directly in the keystore",
            advice: "mv Keys/a/b/old Keys/old"
        ) { place in
            try place.create("Keys/old", "sender")
            try place.makeFolder("Keys/a/b")
            try place.move("Keys/old", to: "Keys/a/b/old")
        },
        DoctorCase(
            code: "misplaced", severity: "warning", testDescription: "a folder of several keysets in the keystore",
            words: "this folder is a keystore of its own",
            advice: "pushcrypt status Keys/team  # name this keystore in commands, and not the folder around it"
        ) { place in
            try place.makeFolder("Keys/team")
            for name in ["a", "b"] {
                try place.create("Keys/\(name)", "sender")
                try place.move("Keys/\(name)", to: "Keys/team/\(name)")
            }
        },
        DoctorCase(
            code: "misplaced", severity: "warning", testDescription: "a hidden keyset whose other name is taken",
            words: "doesn't rotate this keyset", advice: "mv Keys/.ios Keys/NAME  # NAME is a name that is free"
        ) { place in
            try place.create("Keys/old", "sender")
            try place.move("Keys/old", to: "Keys/.ios")
        },
        DoctorCase(
            code: "hook-damaged", severity: "warning", testDescription: "a damaged hook.json",
            words: "hook.json is damaged: whether the program that runs after changes has succeeded is unknown",
            advice: "pushcrypt rotate Keys/ios --exec-on-change PROGRAM  # as in your cron job: it runs the program "
                + "again"
        ) { try $0.write(Data("{\"seq\": 1".utf8), to: "Keys/ios/hook.json") },
        DoctorCase(
            code: "unfinished", severity: "warning", testDescription: "a file that a crash left",
            words: "an interrupted change left keyset.json.new-AAAAAAAAAAAA", advice: verify
        ) { try $0.write(Data(), to: "Keys/ios/keyset.json.new-AAAAAAAAAAAA") },
        DoctorCase(
            code: "unfinished", severity: "warning",
            testDescription: "a log line and a public set that a crash prevented",
            words: "didn't write 1 line to the audit log", advice: verify, others: ["unfinished"]
        ) { try $0.interruptedAdd("Keys/ios") },
        DoctorCase(
            code: "unfinished", severity: "warning", testDescription: "a folder that a crash left",
            words: "an interrupted `keys create`", advice: "the next `keys create` in the same folder removes it"
        ) { try $0.makeFolder("Keys/.new-AAAAAAAAAAAA") },
        DoctorCase(
            code: "public-missing", severity: "warning", testDescription: "no public set",
            words: "public.jwks.json is missing", advice: verify
        ) { try $0.remove("Keys/ios/public.jwks.json") },
        DoctorCase(
            code: "public-differs", severity: "error", testDescription: "an edited public set",
            words: "public.jwks.json doesn't match the keyset",
            advice: "rm Keys/ios/public.jwks.json && \(verify)"
        ) { try $0.edit("Keys/ios/public.jwks.json") { $0.replacing("2026-03-01", with: "2026-03-02") } },
        DoctorCase(
            code: "rolled-back", severity: "error", testDescription: "a keyset older than its public set",
            words: "the keyset is an old copy",
            advice: "pushcrypt keys restore --from FILE Keys/ios  # FILE is the newest backup; without one, `pushcrypt"
        ) { try $0.edit("Keys/ios/public.jwks.json") { $0.replacing("\"seq\": 1", with: "\"seq\": 7") } },
        DoctorCase(
            code: "old-log", severity: "note", testDescription: "a log that was set aside",
            words: "an audit log that `keys log --start-new` replaced", advice: "move it to another place"
        ) { place in
            try place.edit("Keys/ios/audit.jsonl") { $0 + "x\n" }
            try place.succeed("keys", "log", "Keys/ios", "--start-new", "--reason", "why", "--yes")
        },
        DoctorCase(
            code: "audit-broken", severity: "error", testDescription: "a broken log",
            words: "line 2 of the audit log doesn't have number 2",
            advice: "keys log Keys/ios --start-new --reason WHY"
        ) { try $0.edit("Keys/ios/audit.jsonl") { $0 + "x\n" } },
    ]
}
