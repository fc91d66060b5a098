import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptSimulator
import PushCryptTestSupport
import Testing

@testable import pushcrypt

/// The app's project: what app and extension may use, what the extension is, and which files are read.
@Suite("diagnose: the app", .ownThreads)
struct DiagnoseAppTests {
    private func diagnose(_ app: InstalledApp, _ arguments: String...) throws -> Diagnosed {
        try Diagnosed(app.place, app.seal(), ["--app", "Project"] + arguments, at: app.clock.time)
    }

    // MARK: The entitlements

    @Test("an extension without the app's group finds no key, and its counters aren't the app's")
    func appGroup() async throws {
        for project in [
            ProjectFiles(serviceGroups: nil), ProjectFiles(hasServiceEntitlements: false), ProjectFiles(appGroups: nil),
            ProjectFiles(serviceGroups: ["group.com.example.ap"]), ProjectFiles(serviceGroups: nil, format: .binary),
        ] {
            let app = try await InstalledApp(.init(sharesFolder: false))
            let push = try app.seal()
            #expect(await app.fail(push).failure == .unknownKey)
            try app.writeReport()
            try project.write(to: app.place)
            let diagnosed = try diagnose(app, "--report", "report.json")
            #expect(diagnosed.errors == ["entitlements-wrong", "extension-never-ran"], "\(diagnosed.text)")
        }
    }

    @Test("an app without the entitlement for pushes")
    func pushEntitlement() async throws {
        let app = try await InstalledApp()
        try ProjectFiles(environment: nil).write(to: app.place)
        let diagnosed = try diagnose(app)
        #expect(diagnosed.errors == ["entitlements-wrong"] && diagnosed.text.contains("aps-environment"))
    }

    // MARK: The extension

    struct Wrong: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let change: @Sendable (inout ProjectFolder) -> Void
        let seen: String

        init(_ description: String, _ seen: String, _ change: @escaping @Sendable (inout ProjectFolder) -> Void) {
            (testDescription, self.seen, self.change) = (description, seen, change)
        }
    }

    static let wrong = [
        Wrong("a newer minimum deployment than the app's", "the extension 18.4") { $0.minimum = "18.4" },
        Wrong("the template of a content extension", "NSExtensionPointIdentifier com.apple.usernotifications.content") {
            $0.point = "com.apple.usernotifications.content-extension"
        },
        Wrong("a principal class without its module", "NSExtensionPrincipalClass NotificationService") {
            $0.principal = "NotificationService"
        },
        Wrong("no principal class", "no NSExtensionPrincipalClass") { $0.principal = "" },
        Wrong("an extension that isn't embedded", "embeds the extension") { $0.isEmbedded = false },
    ]

    @Test("a project whose extension iOS doesn't run: the evidence names the setting", arguments: wrong)
    func misconfigured(_ wrong: Wrong) async throws {
        let app = try await InstalledApp(.init(hasExtension: false))
        let push = try app.seal()
        await app.fail(push)
        try app.writeReport()
        var folder = ProjectFolder()
        wrong.change(&folder)
        let diagnosed = try app.diagnose(push, "--report", "report.json", "--app", folder.write(to: app.place))
        #expect(diagnosed.cause == "extension-misconfigured", "\(diagnosed.text)")
        #expect(diagnosed.first.evidence.joined().contains(wrong.seen), "\(diagnosed.text)")
        let right = try app.diagnose(push, "--app", ProjectFolder().write(to: app.place))
        #expect(right.found.isEmpty, "\(right.text)")
    }

    @Test("a built app whose extension has a newer system or another identifier, and an app without an extension")
    func product() async throws {
        for (files, seen) in [
            (ProjectFiles(appSystem: "16.0", serviceSystem: "18.2"), "the extension 18.2"),
            (
                ProjectFiles(appSystem: "16.0", serviceSystem: "16.0", serviceID: "com.example.service"),
                "must begin with"
            ),
            (ProjectFiles(appSystem: "18.10", serviceSystem: "18.9"), nil), (.healthy, nil),
            (.init(format: .binary), nil),
        ] {
            let app = try await InstalledApp()
            try files.write(to: app.place)
            let diagnosed = try diagnose(app)
            #expect(diagnosed.names == (seen == nil ? [] : ["extension-misconfigured"]), "\(diagnosed.text)")
            #expect(seen.map { diagnosed.first.evidence.joined().contains($0) } ?? true, "\(diagnosed.text)")
        }
        let app = try await InstalledApp()
        try ProjectFiles(hasServiceEntitlements: false).write(to: app.place)
        try app.place.remove("Project/NotificationService")
        let diagnosed = try diagnose(app)
        #expect(diagnosed.cause == "extension-misconfigured", "\(diagnosed.text)")
    }

    @Test("a folder that isn't an app's is refused, and the example project of this repository has no finding")
    func folders() async throws {
        let app = try await InstalledApp()
        try app.place.makeFolder("Empty")
        expectRefusal(try app.place.run("diagnose", "--app", "Empty", stdin: app.seal()), 66)
        let folder = Repository.root.appendingPathComponent("Examples/iOSExtension").path
        let diagnosed = try app.diagnose(app.seal(), "--app", folder)
        #expect(diagnosed.found.isEmpty, "\(diagnosed.text)")
    }

    // MARK: Which files are read

    private static func plist(_ members: String) -> Data {
        Data(#"<?xml version="1.0"?><plist version="1.0"><dict>\#(members)</dict></plist>"#.utf8)
    }

    private static let otherGroup =
        "<key>com.apple.security.application-groups</key><array><string>group.other</string></array>"

    @Test("links that lead back to a folder are followed once, and a folder is named by its own path")
    func links() async throws {
        let app = try await InstalledApp()
        let folder = try ProjectFolder(group: "group.com.example.other").write(to: app.place)
        let plain = try app.diagnose(app.seal(), "--app", folder)
        _ = try app.place.shell(
            """
            cd \(folder) && for name in 0a b c d e f g h; do ln -s . $name; ln -s .. $name$name; done
            ln -s NotificationService 0alias
            """)
        let looped = try app.diagnose(app.seal(), "--app", folder)
        #expect(looped.errors == ["entitlements-wrong"] && looped.found == plain.found, "\(looped.text)")
        #expect(looped.text.contains("NotificationService/NotificationService.entitlements"), "\(looped.text)")
        #expect(!looped.text.contains("0alias"), "\(looped.text)")
    }

    @Test("a folder with more files and folders than the limit is refused, however deep they lie")
    func entries() throws {
        let place = try Workplace()
        _ = try place.shell("mkdir -p App/a/b; touch App/1 App/a/2 App/a/b/3 App/a/b/.4")
        let root = place.folder.file("App").path
        #expect(try AppFiles(in: root, limit: 6).paths == [])
        #expect(throws: Failure.self) { try AppFiles(in: root, limit: 5) }
        #expect(AppFiles.entryLimit == 200_000)
    }

    @Test(
        "a property list that can't be read is a warning, nothing waits for it, and nothing is said to be missing",
        arguments: [
            "mkfifo Project/Other/Info.plist", "echo no list > Project/Other/Info.plist",
            "ln -s /nowhere Project/Other/Info.plist", "echo no list > Project/App/App.entitlements",
            "echo no list > Project/NotificationService/Info.plist",
            "echo no list > Project/NotificationService/NotificationService.entitlements",
        ])
    func unread(_ command: String) async throws {
        let app = try await InstalledApp()
        try ProjectFiles.healthy.write(to: app.place)
        try app.place.makeFolder("Project/Other")
        _ = try app.place.shell(command)
        let diagnosed = try diagnose(app)
        #expect(diagnosed.names == ["file-unreadable"] && diagnosed.errors == [], "\(diagnosed.text)")
        let path = try #require(command.components(separatedBy: "Project/").last)
        #expect(diagnosed.first.evidence == ["app: \(path)"], "\(diagnosed.text)")
    }

    @Test(
        "a property list that is nested too deeply is reported as unreadable",
        arguments: [
            "<array>", "<array </array>", "<array><!-- </array> -->", "<dict><key>a</key>",
            "<array><?a </array> ?>",
        ])
    func deep(_ start: String) async throws {
        let app = try await InstalledApp()
        try ProjectFiles.healthy.write(to: app.place)
        let list = "<plist version=\"1.0\">" + String(repeating: start, count: 10_000) + "</plist>"
        try app.place.makeFolder("Project/Other")
        try app.place.write(Data(list.utf8), to: "Project/Other/Info.plist")
        #expect(try diagnose(app).names == ["file-unreadable"])
        let strings = try app.place.run("simulate", "--strings", "Project/Other/Info.plist", stdin: app.seal())
        expectRefusal(strings, 65, saying: "is not a .strings file")
    }

    @Test("a property list with comments, empty elements and many entries is read")
    func shallow() async throws {
        let app = try await InstalledApp()
        try ProjectFiles.healthy.write(to: app.place)
        let entries = String(repeating: "<array/><dict><!-- <array> --></dict><array ></array>", count: 90)
        let list = Self.plist("<key>a</key><array>\(entries)</array>" + Self.otherGroup)
        try app.place.makeFolder("Project/Widget")
        try app.place.write(list, to: "Project/Widget/Widget.entitlements")
        #expect(try diagnose(app).found.isEmpty)
    }

    @Test("entitlements of another extension, or of nobody known, aren't the notification service's")
    func otherEntitlements() async throws {
        let app = try await InstalledApp()
        let folder = try ProjectFolder().write(to: app.place)
        try ProjectFiles.healthy.write(to: app.place)
        for folder in [folder, "Project"] {
            try app.place.write(Self.plist(Self.otherGroup), to: folder + "/WidgetExtension.entitlements")
            let diagnosed = try app.diagnose(app.seal(), "--app", folder)
            #expect(diagnosed.found.isEmpty, "\(diagnosed.text)")
        }
        try app.place.remove("Project/NotificationService/NotificationService.entitlements")
        #expect(try diagnose(app).found.isEmpty, "the extension's may be the file whose owner isn't known")
    }

    @Test("a project names the files of its targets, whatever their names are")
    func namedByProject() async throws {
        let app = try await InstalledApp()
        let folder = try ProjectFolder(group: "group.com.example.other").write(to: app.place)
        try app.place.makeFolder(folder + "/Rights")
        _ = try app.place.shell(
            """
            cd \(folder) && mv NotificationService/NotificationService.entitlements Rights/Second.entitlements
            mv NotificationService/Info.plist NotificationService/Service-Info.plist
            sed -i -e 's#NotificationService/NotificationService.entitlements#"$(SRCROOT)/Rights/Second.entitlements"#' \
            -e 's#NotificationService/Info.plist#NotificationService/Service-Info.plist#' App.xcodeproj/project.pbxproj
            """)
        let diagnosed = try app.diagnose(app.seal(), "--app", folder)
        #expect(diagnosed.errors == ["entitlements-wrong"], "\(diagnosed.text)")
        #expect(diagnosed.text.contains("Rights/Second.entitlements"), "\(diagnosed.text)")
    }

    @Test("a property list of another kind isn't an Info.plist, so the generated one of the project counts")
    func otherList() async throws {
        let app = try await InstalledApp()
        let folder = try ProjectFolder(minimum: "18.4").write(to: app.place)
        try app.place.remove(folder + "/App/Info.plist")
        try app.place.write(
            Self.plist("<key>API_KEY</key><string>x</string>"), to: folder + "/App/GoogleService-Info.plist")
        _ = try app.place.shell("sed -i 's#INFOPLIST_FILE = App/Info.plist;##' \(folder)/App.xcodeproj/project.pbxproj")
        let diagnosed = try app.diagnose(app.seal(), "--app", folder)
        #expect(diagnosed.text.contains("the extension 18.4"), "\(diagnosed.text)")
    }
}
