import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptNotifications
import PushCryptPrimitives
import PushCryptSimulator
import Testing

/// The folder of an app's project, as Xcode lays it out.
struct ProjectFolder: Sendable {
    var group = "group.com.example.app"
    var point = "com.apple.usernotifications.service"
    var principal = "$(PRODUCT_MODULE_NAME).NotificationService"
    var minimum = "16.0"
    var isEmbedded = true

    /// Writes the files into `App` of the workplace.
    func write(to place: Workplace) throws -> String {
        for folder in ["App", "App/App", "App/NotificationService", "App/App.xcodeproj"] {
            try place.makeFolder(folder)
        }
        func put(_ text: String, _ path: String) throws { try place.write(Data(text.utf8), to: "App/" + path) }
        let groups = "<key>com.apple.security.application-groups</key><array><string>%</string></array>"
        func entitlements(_ group: String, _ more: String = "") -> String {
            Self.plist(more + groups.replacingOccurrences(of: "%", with: group))
        }
        try put(
            entitlements("group.com.example.app", "<key>aps-environment</key><string>development</string>"),
            "App/App.entitlements")
        try put(entitlements(group), "NotificationService/NotificationService.entitlements")
        try put(Self.plist(""), "App/Info.plist")
        try put(
            Self.plist(
                """
                <key>NSExtension</key><dict>
                <key>NSExtensionPointIdentifier</key><string>\(point)</string>
                <key>NSExtensionPrincipalClass</key><string>\(principal)</string>
                </dict>
                """), "NotificationService/Info.plist")
        try put(
            """
            import PushCryptApple
            final class NotificationService: PushCryptNotificationService {}
            """, "NotificationService/NotificationService.swift")
        try put(project, "App.xcodeproj/project.pbxproj")
        return "App"
    }

    private static func plist(_ members: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0"><dict>\(members)</dict></plist>
        """
    }

    private func settings(_ id: String, _ folder: String, _ bundle: String, _ minimum: String) -> String {
        """
        		\(id) /* Debug */ = {
        			isa = XCBuildConfiguration;
        			buildSettings = {
        				CODE_SIGN_ENTITLEMENTS = \(folder)/\(folder).entitlements;
        				INFOPLIST_FILE = \(folder)/Info.plist;
        				IPHONEOS_DEPLOYMENT_TARGET = \(minimum);
        				PRODUCT_BUNDLE_IDENTIFIER = \(bundle);
        				PRODUCT_NAME = "$(TARGET_NAME)";
        			};
        			name = Debug;
        		};

        """
    }

    private func target(
        _ id: String, _ list: String, _ name: String, _ type: String, _ phases: String,
        product: String
    ) -> String {
        """
        		\(id) /* \(name) */ = {
        			isa = PBXNativeTarget;
        			buildConfigurationList = \(list);
        			buildPhases = (\(phases));
        			name = \(name);
        			productName = \(name);
        			productReference = \(product);
        			productType = "com.apple.product-type.\(type)";
        		};

        """
    }

    private var project: String {
        """
        // !$*UTF8*$!
        {
        	archiveVersion = 1;
        	objectVersion = 56;
        	objects = {
        		AA0000000000000000000001 /* Embed Foundation Extensions */ = {
        			isa = PBXCopyFilesBuildPhase;
        			dstSubfolderSpec = 13;
        			files = (\(isEmbedded ? "AA0000000000000000000002 /* NotificationService.appex */," : ""));
        			name = "Embed Foundation Extensions";
        		};
        		AA0000000000000000000002 /* NotificationService.appex in Embed Foundation Extensions */ = {
        			isa = PBXBuildFile; fileRef = AA0000000000000000000003 /* NotificationService.appex */;
        		};
        		AA0000000000000000000003 /* NotificationService.appex */ = {
        			isa = PBXFileReference; explicitFileType = "wrapper.app-extension"; path = NotificationService.appex;
        			sourceTree = BUILT_PRODUCTS_DIR;
        		};
        \(target("AA0000000000000000000010", "AA0000000000000000000020", "App", "application", "AA0000000000000000000001,",
            product: "AA0000000000000000000004"))\
        \(target("AA0000000000000000000011", "AA0000000000000000000021", "NotificationService", "app-extension", "",
            product: "AA0000000000000000000003"))\
        \(settings("AA0000000000000000000030", "App", "com.example.app", "16.0"))\
        \(settings("AA0000000000000000000031", "NotificationService", "com.example.app.NotificationService", minimum))\
        		AA0000000000000000000020 = {
        			isa = XCConfigurationList; buildConfigurations = (AA0000000000000000000030 /* Debug */,);
        		};
        		AA0000000000000000000021 = {
        			isa = XCConfigurationList; buildConfigurations = (AA0000000000000000000031 /* Debug */,);
        		};
        	};
        	rootObject = AA0000000000000000000040;
        }

        """
    }
}

extension TeamRun {
    /// A wrong setting of the app's project, because of which the system doesn't run the extension. An iOS engineer has the
    /// payload, the report and the project.
    private static func project(
        _ cause: String, _ finding: String, _ answer: [[String]],
        _ change: @escaping @Sendable (inout ProjectFolder) -> Void
    ) -> TeamRun {
        TeamRun(cause: cause, finding: finding, answer: answer) { isMistaken in
            let app = try await InstalledApp(.init(hasExtension: !isMistaken))
            var folder = ProjectFolder()
            if isMistaken { change(&folder) }
            let payload = try app.seal()
            await app.deliver(payload, isMistaken: isMistaken)
            try app.writeReport()
            return try app.diagnose(payload, "--report", "report.json", "--app", folder.write(to: app.place))
        }
    }

    static let apps = [
        project(
            "the extension's minimum deployment is iOS 18.4, the value of a new Xcode, and the phone has iOS 17",
            "extension-deployment-target",
            [["18.4"], ["deployment", "minimum"]]
        ) { $0.minimum = "18.4" },
        project(
            "the target was made with the template Notification Content Extension",
            "extension-point-wrong",
            [["nsextensionpointidentifier", "com.apple.usernotifications.service"]]
        ) { $0.point = "com.apple.usernotifications.content-extension" },
        project(
            "the principal class has no module name, so the system doesn't find the Swift class",
            "principal-class-without-module",
            [["nsextensionprincipalclass"], ["module"]]
        ) { $0.principal = "NotificationService" },
        project(
            "the principal class in Info.plist has the name that the class had before it was renamed",
            "principal-class-unknown",
            [["nsextensionprincipalclass"], ["class"]]
        ) { $0.principal = "$(PRODUCT_MODULE_NAME).PushDecryptor" },
        project(
            "the extension isn't embedded in the app",
            "extension-not-embedded",
            [["embed"]]
        ) { $0.isEmbedded = false },
        TeamRun(
            cause: "the app group of the extension is misspelt",
            finding: "app-groups-differ",
            answer: [["group"], ["group.com.exmaple.app"]]
        ) { isMistaken in
            let app = try await InstalledApp(.init(sharesFolder: !isMistaken))
            let payload = try app.seal()
            await app.deliver(payload, isMistaken: isMistaken)
            try app.writeReport()
            let folder = ProjectFolder(group: isMistaken ? "group.com.exmaple.app" : "group.com.example.app")
            return try app.diagnose(payload, "--report", "report.json", "--app", folder.write(to: app.place))
        },
        TeamRun(
            cause: "the user doesn't allow notifications, so the system runs no extension",
            finding: "alerts-not-allowed",
            answer: [["allow", "permission", "settings", "disabled"], ["notification", "alert"], ["user"]]
        ) { isMistaken in
            let app = try await InstalledApp()
            if isMistaken { app.device.center.changeSettings { $0.authorization = .denied } }
            let payload = try app.seal()
            await app.deliver(payload, isMistaken: isMistaken)
            try app.writeReport()
            return try app.diagnose(payload, "--report", "report.json")
        },
        TeamRun(
            cause: "a stage decodes a picture of 12 megapixels, and the system ends the extension for its memory",
            finding: "extension-never-ran",
            answer: [["memory", "crash", "ended"], ["extension"]]
        ) { isMistaken in
            let picture = LargePicture()
            let app = try await InstalledApp(.init(configure: { if isMistaken { $0.stages = [picture] } }))
            picture.device.withLock { $0 = app.device }
            let payload = try app.seal()
            await app.deliver(payload, isMistaken: isMistaken)
            try app.writeReport()
            return try app.diagnose(payload, "--report", "report.json")
        },
    ]
}

/// A stage that decodes a picture of 4,000 x 3,000 pixels. Its process ends there, so nothing after it runs.
private struct LargePicture: ContentStage {
    let device = Locked<SimulatedDevice?>(nil)

    func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        let device = try #require(device.withLock { $0 })
        device.memory.use(4_000 * 3_000 * 4)
        try await device.clock.sleep(for: .seconds(86_400))
        return content
    }
}
