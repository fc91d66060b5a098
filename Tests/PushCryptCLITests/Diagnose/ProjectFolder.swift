import Foundation
import PushCryptTestSupport

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
