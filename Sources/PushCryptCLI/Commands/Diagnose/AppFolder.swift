import PushCryptFiles

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The property lists of an app's project or product: what each target is, and what it may use.
struct AppFolder {
    /// A target with an Info.plist, or an app whose Info.plist the build generates.
    struct Target {
        let path: String
        fileprivate(set) var identifier: String?
        /// nil for the app itself.
        let extensionPoint: String?
        let isExtension: Bool
        let principalClass: String?
        fileprivate(set) var minimumSystem: String?
        /// Whether another target of the project embeds it; nil if no project says.
        fileprivate(set) var isEmbedded: Bool?

        var isService: Bool { extensionPoint == AppFolder.servicePoint }
        /// Whether the names suggest a notification service extension.
        var looksLikeService: Bool {
            isService || [path, principalClass ?? ""].contains { $0.contains("NotificationService") }
        }
    }

    /// The file of a target's entitlements.
    struct Entitlements {
        let path: String
        let appGroups: [String]
        let keychainGroups: [String]
        let environment: String?
        let isOfService: Bool
    }

    static let servicePoint = "com.apple.usernotifications.service"

    private(set) var targets: [Target] = []
    private(set) var entitlements: [Entitlements] = []
    /// Files that aren't property lists.
    private(set) var unreadable: [String] = []
    /// The classes of notification services in Swift files, and all names of classes there.
    private(set) var sources = ClassNames()
    /// Whether this is a built app. Its entitlements are in its signature, not in files.
    let isProduct: Bool

    var app: Target? {
        targets.filter { !$0.isExtension }.min { $0.path.utf8.count < $1.path.utf8.count }
    }
    var service: Target? { targets.first(where: \.isService) }
    var appEntitlements: [Entitlements] { entitlements.filter { !$0.isOfService } }
    var serviceEntitlements: [Entitlements] { entitlements.filter(\.isOfService) }

    /// - Throws: `Failure` if the folder has no property list; `FileError` if it can't be read.
    init(_ folder: String) throws {
        var files: [String] = []
        try Self.collect(folder, "", depth: 0, &files)
        files.sort()
        isProduct = Self.isIn(bundle: ".appex/", folder + "/") || files.contains { Self.isIn(bundle: ".appex/", $0) }
        var lists: [(path: String, list: EntitlementList)] = []
        var projects: [XcodeProject] = []
        for path in files {
            let bytes = try FileSystem.readFile(folder + "/" + path)
            do {
                if path.hasSuffix(".swift") {
                    sources.add(String(decoding: bytes, as: UTF8.self), path)
                } else if path.hasSuffix(Self.projectSuffix) {
                    projects.append(try XcodeProject(path, bytes))
                } else if path.hasSuffix("Info.plist") {
                    guard let info = try Self.decode(InfoList.self, bytes) else { continue }
                    targets.append(Target(path, info))
                } else {
                    lists.append((path, try Self.decode(EntitlementList.self, bytes) ?? EntitlementList()))
                }
            } catch {
                unreadable.append(path)
            }
        }
        guard !targets.isEmpty || !lists.isEmpty || !unreadable.isEmpty else {
            throw Failure(
                .noInput, "\(folder) has no Info.plist and no .entitlements below it: not the folder of an app")
        }
        if projects.count == 1 { add(projects[0]) }
        entitlements = lists.map { path, list in Entitlements(path, list, isOfService: isOfService(path, list)) }
    }

    /// Adds what the project knows of the app and its extensions.
    private mutating func add(_ project: XcodeProject) {
        let root = FileSystem.parent(of: FileSystem.parent(of: project.path))
        func index(of target: XcodeProject.Target) -> Int? {
            guard let path = target.infoPath else { return nil }
            return targets.firstIndex { $0.path == (root.isEmpty ? path : root + "/" + path) }
        }
        for target in project.targets where target.isExtension {
            guard let index = index(of: target) else { continue }
            targets[index].add(target)
            targets[index].isEmbedded = project.embeds(target)
        }
        guard let app = project.app else { return }
        if let index = index(of: app) {
            targets[index].add(app)
        } else if targets.allSatisfy(\.isExtension) {
            targets.append(Target(app, of: project))
        }
    }

    /// Only the app has the entitlement for pushes. Otherwise the folder tells: it has the extension's Info.plist, or
    /// its name.
    private func isOfService(_ path: String, _ list: EntitlementList) -> Bool {
        guard list.environment == nil, list.macEnvironment == nil else { return false }
        if Self.isIn(bundle: ".appex/", path) { return true }
        let folder = FileSystem.parent(of: path)
        let others = targets.filter { FileSystem.parent(of: $0.path) == folder }
        if !others.isEmpty, others.allSatisfy(\.looksLikeService) { return true }
        let name = FileSystem.name(of: path).lowercased()
        let hints = ["service", "extension", "nse"]
        if hints.contains(where: name.contains) { return true }
        return others.isEmpty && hints.contains(where: FileSystem.name(of: folder).lowercased().contains)
    }

    private static let projectSuffix = ".xcodeproj/project.pbxproj"

    private static func isIn(bundle suffix: String, _ path: String) -> Bool { path.contains(suffix) }

    /// Folders of other code, whose targets aren't the app's.
    private static let foreignFolders = ["Pods", "Carthage", "DerivedData", "SourcePackages", "node_modules", "build"]
    private static let foreignSuffixes = [
        ".framework", ".xcframework", ".xctest", ".bundle", ".xcworkspace",
    ]

    private static func collect(_ root: String, _ path: String, depth: Int, _ files: inout [String]) throws {
        guard depth < 12, files.count < 20_000 else { return }
        let folder = path.isEmpty ? root : root + "/" + path
        for name in try FileSystem.names(in: folder) where !name.hasPrefix(".") {
            let child = path.isEmpty ? name : path + "/" + name
            if name.hasSuffix(".xcodeproj") {
                let project = child + "/project.pbxproj"
                if FileSystem.exists(root + "/" + project) { files.append(project) }
            } else if FileSystem.isFolder(root + "/" + child) {
                let isForeign = foreignFolders.contains(name) || foreignSuffixes.contains(where: name.hasSuffix)
                if !isForeign { try collect(root, child, depth: depth + 1, &files) }
            } else if name.hasSuffix("Info.plist") || name.hasSuffix(".entitlements") || name.hasSuffix(".xcent")
                || name.hasSuffix(".swift")
            {
                files.append(child)
            }
        }
    }

    private static func decode<List: Decodable>(_ type: List.Type, _ bytes: [UInt8]) throws -> List? {
        try PropertyListDecoder().decode(type, from: Data(bytes))
    }
}

private struct InfoList: Decodable {
    struct Extension: Decodable {
        let point: String?
        let principalClass: String?

        enum CodingKeys: String, CodingKey {
            case point = "NSExtensionPointIdentifier"
            case principalClass = "NSExtensionPrincipalClass"
        }
    }

    let identifier: String?
    let minimumSystem: String?
    let minimumMacSystem: String?
    let packageType: String?
    let part: Extension?

    enum CodingKeys: String, CodingKey {
        case identifier = "CFBundleIdentifier"
        case minimumSystem = "MinimumOSVersion"
        case minimumMacSystem = "LSMinimumSystemVersion"
        case packageType = "CFBundlePackageType"
        case part = "NSExtension"
    }
}

private struct EntitlementList: Decodable {
    var appGroups: [String]?
    var keychainGroups: [String]?
    var environment: String?
    var macEnvironment: String?

    enum CodingKeys: String, CodingKey {
        case appGroups = "com.apple.security.application-groups"
        case keychainGroups = "keychain-access-groups"
        case environment = "aps-environment"
        case macEnvironment = "com.apple.developer.aps-environment"
    }
}

extension AppFolder.Target {
    fileprivate init(_ path: String, _ info: InfoList) {
        self.path = path
        // A variable of the build isn't a value.
        func value(_ text: String?) -> String? { text.flatMap { $0.contains("$(") || $0.isEmpty ? nil : $0 } }
        identifier = value(info.identifier)
        extensionPoint = info.part?.point
        isExtension = info.part != nil || info.packageType == "XPC!" || path.contains(".appex/")
        principalClass = info.part?.principalClass
        minimumSystem = value(info.minimumSystem) ?? value(info.minimumMacSystem)
    }

    /// An app whose Info.plist the build generates.
    fileprivate init(_ target: XcodeProject.Target, of project: XcodeProject) {
        path = project.path
        (identifier, minimumSystem) = (target.identifier, target.minimumSystem)
        (extensionPoint, isExtension, principalClass) = (nil, false, nil)
    }

    /// Adds what Info.plist leaves to the build.
    fileprivate mutating func add(_ target: XcodeProject.Target) {
        identifier = identifier ?? target.identifier
        minimumSystem = minimumSystem ?? target.minimumSystem
    }
}

extension AppFolder.Entitlements {
    fileprivate init(_ path: String, _ list: EntitlementList, isOfService: Bool) {
        self.path = path
        appGroups = list.appGroups ?? []
        keychainGroups = list.keychainGroups ?? []
        environment = list.environment ?? list.macEnvironment
        self.isOfService = isOfService
    }
}
