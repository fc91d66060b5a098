import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

@testable import pushcrypt

/// Which files of an app's folder are read, and whose they are.
@Suite("diagnose: the app's folder", .ownThreads)
struct DiagnoseFolderTests {
    private func diagnose(_ app: InstalledApp, _ folder: String = "Project") throws -> Diagnosed {
        try app.diagnose(app.seal(), "--app", folder)
    }

    private static func plist(_ members: String) -> Data {
        Data(#"<?xml version="1.0"?><plist version="1.0"><dict>\#(members)</dict></plist>"#.utf8)
    }

    private static let otherGroup =
        "<key>com.apple.security.application-groups</key><array><string>group.other</string></array>"

    @Test("checked names only what was read of the app: lists, entitlements, targets")
    func checked() async throws {
        let app = try await InstalledApp()
        try ProjectFiles.healthy.write(to: app.place)
        let lists = try diagnose(app)
        #expect(lists.checked.contains("the entitlements of app and extension; the property lists"), "\(lists.text)")
        #expect(lists.notChecked.contains("--app the targets of the app's project"), "\(lists.text)")
        try ProjectFiles(appSystem: "16.0", serviceSystem: "16.0").write(to: app.place)
        try app.place.remove("Project/App")
        try app.place.remove("Project/NotificationService")
        let product = try diagnose(app)
        #expect(product.found.isEmpty && !product.checked.contains("entitlements"), "\(product.text)")
        #expect(product.notChecked.contains("--app the entitlements of app and extension"), "\(product.text)")
        let project = try diagnose(app, ProjectFolder().write(to: app.place))
        #expect(project.checked.contains("the targets of the app's project"), "\(project.text)")
    }

    @Test("links that lead back to a folder are followed once, and a folder is named by its own path")
    func links() async throws {
        let app = try await InstalledApp()
        let folder = try ProjectFolder(group: "group.com.example.other").write(to: app.place)
        let plain = try diagnose(app, folder)
        _ = try app.place.shell(
            """
            cd \(folder) && for name in 0a b c d e f g h; do ln -s . $name; ln -s .. $name$name; done
            ln -s NotificationService 0alias
            """)
        let looped = try diagnose(app, folder)
        #expect(looped.checked == plain.checked && looped.found == plain.found, "\(looped.text)")
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

    @Test("a pipe in place of a property list is reported as unreadable, and nothing waits for it")
    func pipe() async throws {
        let app = try await InstalledApp()
        try ProjectFiles.healthy.write(to: app.place)
        _ = try app.place.shell("mkdir Project/Other; mkfifo Project/Other/Info.plist Project/Other/a.entitlements")
        let diagnosed = try diagnose(app)
        #expect(diagnosed.text.contains("Other/Info.plist"), "\(diagnosed.text)")
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
        let diagnosed = try diagnose(app)
        #expect(diagnosed.text.contains("Other/Info.plist"), "\(diagnosed.text)")
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
        let diagnosed = try diagnose(app)
        #expect(!diagnosed.text.contains("Widget.entitlements"), "\(diagnosed.text)")
    }

    @Test("the entitlements of another extension aren't the notification service's", arguments: [true, false])
    func widget(hasProject: Bool) async throws {
        let app = try await InstalledApp()
        let folder = hasProject ? try ProjectFolder().write(to: app.place) : "Project"
        if !hasProject { try ProjectFiles.healthy.write(to: app.place) }
        try app.place.write(Self.plist(Self.otherGroup), to: folder + "/WidgetExtension.entitlements")
        let diagnosed = try diagnose(app, folder)
        #expect(diagnosed.found.isEmpty, "\(diagnosed.text)")
    }

    @Test("a project names the entitlements of the extension, whatever the file's name is")
    func namedByProject() async throws {
        let app = try await InstalledApp()
        let folder = try ProjectFolder(group: "group.com.example.other").write(to: app.place)
        let project = try app.place.read(folder + "/App.xcodeproj/project.pbxproj")
        let text = String(decoding: project, as: UTF8.self)
            .replacing(
                "NotificationService/NotificationService.entitlements",
                with: #""$(SRCROOT)/Rights/Second.entitlements""#)
        try app.place.write(Data(text.utf8), to: folder + "/App.xcodeproj/project.pbxproj")
        try app.place.makeFolder(folder + "/Rights")
        try app.place.write(
            app.place.read(folder + "/NotificationService/NotificationService.entitlements"),
            to: folder + "/Rights/Second.entitlements")
        try app.place.remove(folder + "/NotificationService/NotificationService.entitlements")
        let diagnosed = try diagnose(app, folder)
        #expect(diagnosed.errors == ["app-groups-differ"], "\(diagnosed.text)")
        #expect(diagnosed.text.contains("Rights/Second.entitlements"), "\(diagnosed.text)")
    }

    @Test("without a project, the names of files only lead to a warning")
    func guessed() async throws {
        let app = try await InstalledApp()
        try ProjectFiles(hasServiceEntitlements: false).write(to: app.place)
        try app.place.write(Self.plist(Self.otherGroup), to: "Project/NSE.entitlements")
        let diagnosed = try diagnose(app)
        #expect(diagnosed.errors == [] && diagnosed.warnings == ["app-groups-differ"], "\(diagnosed.text)")
    }

    @Test("an app without the entitlement for pushes, also if the name of its file contains nse")
    func pushEntitlement() async throws {
        let app = try await InstalledApp()
        try ProjectFiles(environment: nil).write(to: app.place)
        #expect(try diagnose(app).errors == ["push-entitlement-missing"])
        let file = try app.place.read("Project/App/App.entitlements")
        try app.place.remove("Project/App/App.entitlements")
        try app.place.write(file, to: "Project/App/Expense.entitlements")
        let diagnosed = try diagnose(app)
        #expect(diagnosed.errors == ["push-entitlement-missing"], "\(diagnosed.text)")
    }

    @Test("a property list of another kind isn't an Info.plist, so the generated one of the project counts")
    func otherList() async throws {
        let app = try await InstalledApp()
        let folder = try ProjectFolder(minimum: "18.4").write(to: app.place)
        try app.place.remove(folder + "/App/Info.plist")
        try app.place.write(
            Self.plist("<key>API_KEY</key><string>x</string>"), to: folder + "/App/GoogleService-Info.plist")
        let path = folder + "/App.xcodeproj/project.pbxproj"
        let project = String(decoding: try app.place.read(path), as: UTF8.self)
        try app.place.write(Data(project.replacing("INFOPLIST_FILE = App/Info.plist;", with: "").utf8), to: path)
        let diagnosed = try diagnose(app, folder)
        #expect(diagnosed.errors == ["extension-deployment-target"], "\(diagnosed.text)")
    }

    @Test("an Info.plist with another name is read if the project names it")
    func namedList() async throws {
        let app = try await InstalledApp()
        let folder = try ProjectFolder(point: "com.apple.usernotifications.content-extension").write(to: app.place)
        let list = try app.place.read(folder + "/NotificationService/Info.plist")
        try app.place.remove(folder + "/NotificationService/Info.plist")
        try app.place.write(list, to: folder + "/NotificationService/Service-Info.plist")
        let path = folder + "/App.xcodeproj/project.pbxproj"
        let project = String(decoding: try app.place.read(path), as: UTF8.self)
        let renamed = project.replacing(
            "NotificationService/Info.plist", with: "NotificationService/Service-Info.plist")
        try app.place.write(Data(renamed.utf8), to: path)
        #expect(try diagnose(app, folder).errors == ["extension-point-wrong"])
    }

    @Test("an unread property list or entitlements file: diagnose warns of it and says of nothing that it is missing")
    func unread() async throws {
        for (project, path) in [
            (ProjectFiles.healthy, "App/App.entitlements"), (.healthy, "NotificationService/Info.plist"),
            (.healthy, "NotificationService/NotificationService.entitlements"),
            (ProjectFiles(serviceGroups: nil), "Release.entitlements"),
            (ProjectFiles(appGroups: nil, environment: nil), "App/Release.entitlements"),
            (ProjectFiles(appKeychain: ["a.b"]), "Release.entitlements"),
            (ProjectFiles(point: "com.apple.usernotifications.content-extension"), "Other/Info.plist"),
        ] {
            let app = try await InstalledApp()
            try project.write(to: app.place)
            try app.place.makeFolder("Project/Other")
            try app.place.write(Data("no list".utf8), to: "Project/" + path)
            let diagnosed = try diagnose(app)
            #expect(diagnosed.errors.isEmpty, "\(path): \(diagnosed.text)")
            #expect(diagnosed.warnings == ["property-list-unreadable"], "\(path): \(diagnosed.text)")
        }
    }

    @Test("an unread Swift file: diagnose doesn't say that the extension's class doesn't exist")
    func unreadClass() async throws {
        let app = try await InstalledApp()
        try ProjectFiles.healthy.write(to: app.place)
        let text = "class Service: UNNotificationServiceExtension {}"
        try app.place.write(Data(text.utf8), to: "Project/NotificationService/Service.swift")
        #expect(try diagnose(app).errors == ["principal-class-unknown"])
        _ = try app.place.shell("ln -s /nowhere Project/NotificationService/NotificationService.swift")
        let diagnosed = try diagnose(app)
        #expect(diagnosed.errors.isEmpty && diagnosed.warnings == ["property-list-unreadable"], "\(diagnosed.text)")
    }

    @Test("a link to nothing and a file that isn't a list are warnings, and the rest is examined")
    func unreadable() async throws {
        let app = try await InstalledApp()
        try ProjectFiles(serviceGroups: ["group.com.example.other"]).write(to: app.place)
        let link = app.place.folder.file("Project/Gone.swift").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/nowhere")
        try app.place.write(Data("no list".utf8), to: "Project/Broken.entitlements")
        let diagnosed = try diagnose(app)
        #expect(diagnosed.errors == ["app-groups-differ"], "\(diagnosed.text)")
        #expect(diagnosed.warnings == ["property-list-unreadable"], "\(diagnosed.text)")
        let seen = diagnosed.found.flatMap(\.evidence)
        #expect(seen.contains("app: Gone.swift") && seen.contains("app: Broken.entitlements"), "\(diagnosed.text)")
    }
}
