import Foundation
import PushCryptTestSupport

/// The folder of an app's project, as Xcode lays it out.
struct ProjectFolder: Sendable {
    static let group = "com.apple.security.application-groups"

    var appGroups: [String]? = ["group.com.example.app"]
    var serviceGroups: [String]? = ["group.com.example.app"]
    var environment: String? = "development"
    var point = "com.apple.usernotifications.service"
    var principal = "$(PRODUCT_MODULE_NAME).NotificationService"
    var hasServiceEntitlements = true
    var isBinary = false
    /// Whether it has the project's file beside the property lists.
    var hasProject = true
    /// The extension's lowest system, in the project's file.
    var minimum = "16.0"
    var isEmbedded = true

    /// Writes the files into `Project` of the workplace.
    @discardableResult
    func write(to place: Workplace) throws -> String {
        try write([:], "App/Info.plist", to: place)
        try write(["aps-environment": environment, Self.group: appGroups], "App/App.entitlements", to: place)
        let service = ["NSExtensionPointIdentifier": point, "NSExtensionPrincipalClass": principal]
        try write(["NSExtension": service], "NotificationService/Info.plist", to: place)
        if hasServiceEntitlements {
            let path = "NotificationService/NotificationService.entitlements"
            try write([Self.group: serviceGroups], path, to: place)
        }
        guard hasProject else { return "Project" }
        try place.makeFolder("Project/App.xcodeproj")
        try place.write(Data(project.utf8), to: "Project/App.xcodeproj/project.pbxproj")
        return "Project"
    }

    /// Writes a built app with its extension into `Project`.
    func writeProduct(
        _ appSystem: String, _ serviceSystem: String, serviceID: String = "com.example.app.NotificationService",
        to place: Workplace
    ) throws {
        try write(
            ["CFBundleIdentifier": InstalledApp.topic, "CFBundlePackageType": "APPL", "MinimumOSVersion": appSystem],
            "Example.app/Info.plist", to: place)
        let service = ["NSExtensionPointIdentifier": point, "NSExtensionPrincipalClass": "Example.NotificationService"]
        try write(
            [
                "CFBundleIdentifier": serviceID, "CFBundlePackageType": "XPC!", "MinimumOSVersion": serviceSystem,
                "NSExtension": service,
            ], "Example.app/PlugIns/NotificationService.appex/Info.plist", to: place)
    }

    private func write(_ list: [String: Any?], _ path: String, to place: Workplace) throws {
        try place.makeFolder("Project/" + path.split(separator: "/").dropLast().joined(separator: "/"))
        let data = try PropertyListSerialization.data(
            fromPropertyList: list.compactMapValues(\.self), format: isBinary ? .binary : .xml, options: 0)
        try place.write(data, to: "Project/" + path)
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
