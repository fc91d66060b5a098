import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptNotifications
import PushCryptPrimitives
import PushCryptSender
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// The property lists of an app's project, as Xcode writes them.
struct ProjectFiles {
    var appGroups: [String]? = ["group.com.example.app"]
    var serviceGroups: [String]? = ["group.com.example.app"]
    var appKeychain: [String]?
    var serviceKeychain: [String]?
    var environment: String? = "development"
    var point: String? = "com.apple.usernotifications.service"
    var principalClass: String? = "$(PRODUCT_MODULE_NAME).NotificationService"
    var hasServiceEntitlements = true
    /// Of a product; nil for a project, which has variables of the build in their place.
    var appSystem: String?
    var serviceSystem: String?
    var serviceID = "com.example.app.NotificationService"
    var format = PropertyListSerialization.PropertyListFormat.xml

    static let healthy = ProjectFiles()

    private func write(_ list: [String: Any?], _ path: String, to place: Workplace) throws {
        let parts = path.split(separator: "/").dropLast()
        for count in 1...parts.count { try place.makeFolder(parts.prefix(count).joined(separator: "/"), mode: 0o755) }
        let data = try PropertyListSerialization.data(
            fromPropertyList: list.compactMapValues(\.self), format: format, options: 0)
        try place.write(data, to: path, mode: 0o644)
    }

    func write(to place: Workplace) throws {
        if appSystem != nil { return try writeProduct(to: place) }
        let group = "com.apple.security.application-groups"
        try write(
            ["UIApplicationSceneManifest": ["UIApplicationSupportsMultipleScenes": true]], "Project/App/Info.plist",
            to: place)
        try write(
            ["aps-environment": environment, group: appGroups, "keychain-access-groups": appKeychain],
            "Project/App/App.entitlements", to: place)
        try write(
            [
                "NSExtension": ["NSExtensionPointIdentifier": point, "NSExtensionPrincipalClass": principalClass]
                    .compactMapValues(\.self)
            ],
            "Project/NotificationService/Info.plist", to: place)
        guard hasServiceEntitlements else { return }
        try write(
            [group: serviceGroups, "keychain-access-groups": serviceKeychain],
            "Project/NotificationService/NotificationService.entitlements", to: place)
    }

    private func writeProduct(to place: Workplace) throws {
        try write(
            ["CFBundleIdentifier": InstalledApp.topic, "CFBundlePackageType": "APPL", "MinimumOSVersion": appSystem],
            "Project/Example.app/Info.plist", to: place)
        try write(
            [
                "CFBundleIdentifier": serviceID, "CFBundlePackageType": "XPC!", "MinimumOSVersion": serviceSystem,
                "NSExtension": [
                    "NSExtensionPointIdentifier": point, "NSExtensionPrincipalClass": "Example.NotificationService",
                ]
                .compactMapValues(\.self),
            ], "Project/Example.app/PlugIns/NotificationService.appex/Info.plist", to: place)
    }
}

/// The app's project: what app and extension may use, and what the extension is.
@Suite("diagnose: the app", .ownThreads)
struct DiagnoseAppTests {
    private func diagnose(
        _ project: ProjectFiles, _ app: InstalledApp, _ push: Data, _ arguments: String...
    ) throws -> Diagnosed {
        try project.write(to: app.place)
        return try Diagnosed(app.place, push, ["--app", "Project"] + arguments, at: app.clock.time)
    }

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
            let differs = project.serviceGroups == ["group.com.example.ap"]
            let diagnosed = try diagnose(project, app, push, "--report", "report.json")
            #expect(diagnosed.errors == [differs ? "app-groups-differ" : "app-group-missing"], "\(diagnosed.text)")
            let without = try app.diagnose(push, "--report", "report.json")
            #expect(without.errors == ["extension-never-ran"] && without.text.contains("app group"), "\(without.text)")
        }
    }

    @Test("an extension without the keychain group of the device's key")
    func keychainGroup() async throws {
        struct NotEntitled: RecipientKeyring {
            func key(_ id: KeyID, at time: UnixTime) throws(FailureClass) -> RecipientKey {
                throw DeviceKeyError(.notEntitled, "the keychain can't read key \(id): status -34018").failureClass
            }
        }
        for other in [nil, ["$(AppIdentifierPrefix)com.example.other"]] {
            let app = try await InstalledApp(
                .init(configure: { configuration in
                    configuration = Self.replacingKeys(of: configuration, by: NotEntitled())
                }))
            let push = try app.seal()
            #expect(await app.fail(push).failure == .internalError)
            try app.writeReport()
            let project = ProjectFiles(
                appKeychain: ["$(AppIdentifierPrefix)com.example.shared"], serviceKeychain: other)
            let diagnosed = try diagnose(project, app, push, "--report", "report.json")
            #expect(diagnosed.errors == ["keychain-groups-differ"], "\(diagnosed.text)")
            let without = try app.diagnose(push, "--report", "report.json")
            #expect(without.errors == ["extension-set-up-failed"], "\(without.text)")
        }
    }

    private static func replacingKeys(
        of configuration: ExtensionConfiguration, by keyring: any RecipientKeyring
    ) -> ExtensionConfiguration {
        guard
            var new = try? ExtensionConfiguration(
                topic: InstalledApp.topic, keyring: keyring, senders: .unsigned,
                fallback: .outerAlert(orElse: .standard))
        else { return configuration }
        new.store = configuration.store
        return new
    }

    @Test("an app without its own entitlement names it in its report")
    func notEntitled() async throws {
        let app = try await InstalledApp(.init(sharesFolder: false))
        let push = try app.seal()
        await app.fail(push)
        let report = DeviceReport(
            topic: InstalledApp.topic, unavailable: "notEntitled",
            reason: "the entitlements don't name the app "
                + "group group.x",
            at: app.clock.time)
        try app.place.write(report.json(), to: "report.json")
        let diagnosed = try app.diagnose(push, "--report", "report.json")
        #expect(diagnosed.errors == ["key-storage-not-entitled"], "\(diagnosed.text)")
        let both = try diagnose(ProjectFiles(appGroups: nil), app, push, "--report", "report.json")
        #expect(both.errors == ["app-group-missing"], "\(both.text)")
    }

    @Test("an extension that iOS doesn't run", arguments: ["point", "class", "system", "identifier"])
    func notRun(_ fault: String) async throws {
        let app = try await InstalledApp(.init(hasExtension: false))
        let push = try app.seal()
        await app.fail(push)
        try app.writeReport()
        let (project, name) =
            switch fault {
            case "point":
                (ProjectFiles(point: "com.apple.usernotifications.content-extension"), "extension-point-wrong")
            case "class": (ProjectFiles(principalClass: nil), "principal-class-missing")
            case "system": (ProjectFiles(appSystem: "16.0", serviceSystem: "18.2"), "extension-deployment-target")
            default:
                (
                    ProjectFiles(appSystem: "16.0", serviceSystem: "16.0", serviceID: "com.example.service"),
                    "extension-identifier-wrong"
                )
            }
        let diagnosed = try diagnose(project, app, push, "--report", "report.json")
        #expect(diagnosed.errors == [name], "\(diagnosed.text)")
    }

    @Test("an app without an extension")
    func noExtension() async throws {
        let app = try await InstalledApp(.init(hasExtension: false))
        let push = try app.seal()
        await app.fail(push)
        try ProjectFiles(hasServiceEntitlements: false).write(to: app.place)
        try app.place.remove("Project/NotificationService")
        let diagnosed = try app.diagnose(push, "--app", "Project")
        #expect(diagnosed.errors == ["extension-missing"], "\(diagnosed.text)")
    }

    @Test("a slow server of an attachment, and a stage of the app that fails, are named")
    func stages() async throws {
        struct Failing: ContentStage {
            let name = "names"
            func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
                throw CancellationError()
            }
        }
        let app = try await InstalledApp(.init(configure: { $0.stages = [Failing()] }))
        let push = try app.seal()
        let reception = await app.device.receive([UInt8](push))
        #expect(reception.report?.stageFailures.isEmpty == false)
        try app.writeReport()
        let diagnosed = try app.diagnose(push, "--report", "report.json")
        #expect(diagnosed.errors.isEmpty && diagnosed.warnings == ["stage-failed"], "\(diagnosed.text)")
    }

    @Test("a folder that isn't an app's is refused, and one that is healthy has no finding")
    func healthy() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        try app.place.makeFolder("Empty")
        let output = try app.place.run("diagnose", "--app", "Empty", stdin: push)
        #expect(output.exit == 66 && output.hasOneLineOnStderr)
        for project in [
            ProjectFiles.healthy, ProjectFiles(format: .binary), ProjectFiles(appSystem: "16.0", serviceSystem: "16.0"),
            ProjectFiles(appSystem: "18.10", serviceSystem: "18.9"),
        ] {
            try app.place.makeFolder("Project")
            try app.place.remove("Project")
            let diagnosed = try diagnose(project, app, push)
            #expect(diagnosed.found.isEmpty, "\(diagnosed.text)")
        }
    }

    @Test("the example project of this repository has no finding")
    func example() async throws {
        let app = try await InstalledApp()
        let folder = Repository.root.appendingPathComponent("Examples/iOSExtension").path
        let diagnosed = try app.diagnose(app.seal(), "--app", folder)
        #expect(diagnosed.found.isEmpty, "\(diagnosed.text)")
    }
}
