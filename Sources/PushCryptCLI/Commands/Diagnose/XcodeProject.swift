import PushCryptFiles

/// The targets of `NAME.xcodeproj/project.pbxproj`, a property list of objects that name each other by their ids.
///
/// ```
/// PBXNativeTarget -> buildConfigurationList -> XCBuildConfiguration.buildSettings
///                 -> buildPhases -> PBXCopyFilesBuildPhase.files -> PBXBuildFile.fileRef = another target's product
/// PBXProject      -> buildConfigurationList, whose settings apply where a target has none
/// ```
struct XcodeProject {
    struct Target {
        let name: String
        let isApp: Bool
        let isExtension: Bool
        /// The path of its Info.plist from the folder of the project; nil if the build generates it.
        let infoPath: String?
        /// The paths of its entitlements in all configurations; empty if the project doesn't say.
        let entitlementPaths: Set<String>
        let identifier: String?
        let minimumSystem: String?
        fileprivate let product: String?
        fileprivate let copied: Set<String>
    }

    let path: String
    let targets: [Target]

    /// The path of a file that the project names from its own folder.
    func path(of file: String) -> String {
        let root = FileSystem.parent(of: FileSystem.parent(of: path))
        return root.isEmpty ? file : root + "/" + file
    }

    /// - Throws: `DecodingError` if the file isn't a project.
    init(_ path: String, _ bytes: [UInt8]) throws {
        self.path = path
        let list = try PropertyList.decode(List.self, bytes)
        let project = list.objects.values.first { $0.isa == "PBXProject" }
        let common = project.map { list.settings(of: $0) } ?? [:]
        targets = list.objects.values.filter { $0.isa == "PBXNativeTarget" }.map { Target($0, list, common) }
            .sorted { $0.name < $1.name }
    }

    /// The app; nil if the project has several, or none.
    var app: Target? {
        let apps = targets.filter(\.isApp)
        return apps.count == 1 ? apps[0] : nil
    }

    /// Whether the app copies the product of a target into its own, as Embed Foundation Extensions does; nil if the
    /// project doesn't say.
    func embeds(_ target: Target) -> Bool? {
        guard let app, let product = target.product else { return nil }
        return app.copied.contains(product)
    }
}

extension XcodeProject.Target {
    fileprivate init(_ object: List.Object, _ list: List, _ common: [String: String]) {
        let settings = common.merging(list.settings(of: object)) { _, own in own }
        // A variable of the build isn't a value.
        func value(_ name: String) -> String? { settings[name].flatMap { $0.contains("$") || $0.isEmpty ? nil : $0 } }
        let type = object.productType ?? ""
        name = object.name ?? ""
        isApp = type == "com.apple.product-type.application"
        isExtension = type == "com.apple.product-type.app-extension"
        infoPath = Self.path(settings["INFOPLIST_FILE"])
        let entitlements = list.values(of: "CODE_SIGN_ENTITLEMENTS", object).map(Self.path)
        entitlementPaths = entitlements.contains(nil) ? [] : Set(entitlements.compactMap(\.self))
        identifier = value("PRODUCT_BUNDLE_IDENTIFIER")
        minimumSystem = value("IPHONEOS_DEPLOYMENT_TARGET") ?? value("MACOSX_DEPLOYMENT_TARGET")
        product = object.productReference
        let phases = (object.buildPhases ?? []).compactMap { list.objects[$0] }
        let files = phases.filter { $0.isa == "PBXCopyFilesBuildPhase" }.flatMap { $0.files ?? [] }
        copied = Set(files.compactMap { list.objects[$0]?.fileRef })
    }

    /// A path from the folder of the project; nil if it depends on the build.
    private static func path(_ setting: String?) -> String? {
        let path = setting?.replacing("$(SRCROOT)/", with: "") ?? ""
        return path.contains("$") || path.isEmpty ? nil : path
    }
}

private struct List: Decodable {
    struct Object: Decodable {
        let isa: String?
        let name: String?
        let productType: String?
        let productReference: String?
        let buildConfigurationList: String?
        let buildConfigurations: [String]?
        let buildSettings: [String: Setting]?
        let buildPhases: [String]?
        let files: [String]?
        let fileRef: String?
    }

    /// A text, or a list of texts, which isn't needed.
    struct Setting: Decodable {
        let text: String?

        init(from decoder: any Decoder) throws { text = try? decoder.singleValueContainer().decode(String.self) }
    }

    let objects: [String: Object]

    /// The settings that all configurations have in common: which one was installed isn't known.
    func settings(of object: Object) -> [String: String] {
        let settings = configurations(of: object)
        return (settings.first ?? [:]).filter { name, value in settings.allSatisfy { $0[name] == value } }
    }

    /// The values of a setting in all configurations; nil for one without it.
    func values(of name: String, _ object: Object) -> [String?] { configurations(of: object).map { $0[name] } }

    private func configurations(of object: Object) -> [[String: String]] {
        let ids = object.buildConfigurationList.flatMap { objects[$0]?.buildConfigurations } ?? []
        return ids.map { (objects[$0]?.buildSettings ?? [:]).compactMapValues(\.text) }
    }
}
