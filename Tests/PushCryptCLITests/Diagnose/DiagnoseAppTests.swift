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

    /// Property lists without the project's file.
    private static let lists = ProjectFolder(hasProject: false)

    @Test("an extension without the app's group finds no key, and its counters aren't the app's")
    func appGroup() async throws {
        for change: (inout ProjectFolder) -> Void in [
            { $0.serviceGroups = nil }, { $0.hasServiceEntitlements = false }, { $0.appGroups = nil },
            { $0.serviceGroups = ["group.com.example.ap"] }, { ($0.serviceGroups, $0.isBinary) = (nil, true) },
        ] {
            let app = try await InstalledApp(.init(sharesFolder: false))
            #expect(await app.fail(try app.seal()).failure == .unknownKey)
            try app.writeReport()
            var folder = Self.lists
            change(&folder)
            try folder.write(to: app.place)
            let diagnosed = try diagnose(app, "--report", "report.json")
            #expect(diagnosed.errors == ["entitlements-wrong", "extension-never-ran"], "\(diagnosed.text)")
        }
    }

    @Test("an app without the entitlement for pushes")
    func pushEntitlement() async throws {
        let app = try await InstalledApp()
        try ProjectFolder(environment: nil, hasProject: false).write(to: app.place)
        let diagnosed = try diagnose(app)
        #expect(diagnosed.errors == ["entitlements-wrong"] && diagnosed.text.contains("aps-environment"))
    }

    @Test("a project whose extension iOS doesn't run: the evidence names the setting")
    func misconfigured() async throws {
        let app = try await InstalledApp(.init(hasExtension: false))
        let push = try app.seal()
        await app.fail(push)
        try app.writeReport()
        let wrong: [(String, (inout ProjectFolder) -> Void)] = [
            ("the extension 18.4", { $0.minimum = "18.4" }),
            (
                "NSExtensionPointIdentifier com.apple.usernotifications.content",
                { $0.point = "com.apple.usernotifications.content-extension" }
            ),
            ("NSExtensionPrincipalClass NotificationService", { $0.principal = "NotificationService" }),
            ("no NSExtensionPrincipalClass", { $0.principal = "" }),
            ("embeds the extension", { $0.isEmbedded = false }),
        ]
        for (seen, change) in wrong {
            var folder = ProjectFolder()
            change(&folder)
            let diagnosed = try app.diagnose(push, "--report", "report.json", "--app", folder.write(to: app.place))
            #expect(diagnosed.cause == "extension-misconfigured", "\(diagnosed.text)")
            #expect(diagnosed.first.evidence.joined().contains(seen), "\(diagnosed.text)")
        }
        let right = try app.diagnose(push, "--app", ProjectFolder().write(to: app.place))
        #expect(right.found.isEmpty, "\(right.text)")
    }

    @Test(
        "a built app whose extension has a newer system or another identifier",
        arguments: [
            ("16.0", "18.2", nil, "the extension 18.2"), ("16.0", "16.0", "com.example.service", "must begin with"),
            ("18.10", "18.9", nil, nil),
        ] as [(String, String, String?, String?)])
    func product(_ appSystem: String, _ serviceSystem: String, _ id: String?, _ seen: String?) async throws {
        let app = try await InstalledApp()
        let serviceID = id ?? InstalledApp.extensionID
        try ProjectFolder().writeProduct(appSystem, serviceSystem, serviceID: serviceID, to: app.place)
        let diagnosed = try diagnose(app)
        #expect(diagnosed.names == (seen == nil ? [] : ["extension-misconfigured"]), "\(diagnosed.text)")
        #expect(seen.map { diagnosed.first.evidence.joined().contains($0) } ?? true, "\(diagnosed.text)")
    }

    @Test("a folder without an extension, one that isn't an app's, and the example project of this repository")
    func folders() async throws {
        let app = try await InstalledApp()
        try Self.lists.write(to: app.place)
        try app.place.remove("Project/NotificationService")
        #expect(try diagnose(app).cause == "extension-misconfigured")
        try app.place.makeFolder("Empty")
        expectRefusal(try app.place.run("diagnose", "--app", "Empty", stdin: app.seal()), 66)
        let folder = Repository.root.appendingPathComponent("Examples/iOS").path
        #expect(try app.diagnose(app.seal(), "--app", folder).found.isEmpty)
    }

    // MARK: Which files are read

    private static func plist(_ members: String) -> Data {
        Data(#"<?xml version="1.0"?><plist version="1.0"><dict>\#(members)</dict></plist>"#.utf8)
    }

    private static let otherGroup = "<key>\(ProjectFolder.group)</key><array><string>group.other</string></array>"

    @Test("links that lead back to a folder are followed once, and a folder is named by its own path")
    func links() async throws {
        let app = try await InstalledApp()
        let folder = try ProjectFolder(serviceGroups: ["group.com.example.other"]).write(to: app.place)
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
            "mkfifo Project/Other/Info.plist", "ln -s /nowhere Project/Other/Info.plist",
            "echo no list > Project/NotificationService/NotificationService.entitlements",
        ])
    func unread(_ command: String) async throws {
        let app = try await InstalledApp()
        try Self.lists.write(to: app.place)
        try app.place.makeFolder("Project/Other")
        _ = try app.place.shell(command)
        let diagnosed = try diagnose(app)
        #expect(diagnosed.names == ["file-unreadable"] && diagnosed.errors == [], "\(diagnosed.text)")
        let path = try #require(command.components(separatedBy: "Project/").last)
        #expect(diagnosed.first.evidence == ["app: \(path)"], "\(diagnosed.text)")
    }

    @Test(
        "a property list that is nested too deeply is reported as unreadable",
        arguments: ["<array>", "<array><!-- </array> -->", "<dict><key>a</key>", "<array><?a </array> ?>"])
    func deep(_ start: String) async throws {
        let app = try await InstalledApp()
        try Self.lists.write(to: app.place)
        let list = "<plist version=\"1.0\">" + String(repeating: start, count: 10_000) + "</plist>"
        try app.place.makeFolder("Project/Other")
        try app.place.write(Data(list.utf8), to: "Project/Other/Info.plist")
        #expect(try diagnose(app).names == ["file-unreadable"])
        let strings = try app.place.run("simulate", "--strings", "Project/Other/Info.plist", stdin: app.seal())
        expectRefusal(strings, 65, saying: "is not a .strings file")
    }

    @Test("entitlements of another extension, or of nobody known, aren't the notification service's")
    func otherEntitlements() async throws {
        let app = try await InstalledApp()
        try Self.lists.write(to: app.place)
        try app.place.write(Self.plist(Self.otherGroup), to: "Project/WidgetExtension.entitlements")
        #expect(try diagnose(app).found.isEmpty)
        try app.place.remove("Project/NotificationService/NotificationService.entitlements")
        #expect(try diagnose(app).found.isEmpty, "the extension's may be the file whose owner isn't known")
    }

    @Test("a project names the files of its targets, whatever their names are")
    func namedByProject() async throws {
        let app = try await InstalledApp()
        let folder = try ProjectFolder(serviceGroups: ["group.com.example.other"]).write(to: app.place)
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
}
