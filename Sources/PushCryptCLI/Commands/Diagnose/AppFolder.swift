import PushCryptFiles

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
        enum Owner { case app, service, other, unknown }

        let path: String
        let appGroups: [String]
        let keychainGroups: [String]
        let environment: String?
        let owner: Owner
    }

    static let servicePoint = "com.apple.usernotifications.service"

    private(set) var targets: [Target] = []
    private(set) var entitlements: [Entitlements] = []
    /// Files and folders that can't be read as what their names say.
    private(set) var unreadable: [String] = []
    /// Whether this is a built app. Its entitlements are in its signature, not in files.
    let isProduct: Bool

    var app: Target? {
        targets.filter { !$0.isExtension }.min { $0.path.utf8.count < $1.path.utf8.count }
    }
    var service: Target? { targets.first(where: \.isService) }
    var appEntitlements: [Entitlements] { entitlements.filter { $0.owner == .app } }
    var serviceEntitlements: [Entitlements] { entitlements.filter { $0.owner == .service } }
    /// Whether all entitlements were read, and it is known whose they are.
    var knowsEntitlements: Bool { unreadable.isEmpty && entitlements.allSatisfy { $0.owner != .unknown } }

    /// - Throws: `Failure` if the folder has no property list; `FileError` if it can't be read.
    init(_ folder: String) throws {
        let found = try AppFiles(in: folder)
        let files = found.paths.sorted()
        unreadable = found.unreadable
        isProduct = ([folder + "/"] + files).contains { $0.contains(".appex/") }
        let projects = files.filter { $0.hasSuffix(AppFiles.projectSuffix) }.compactMap { path in
            read(folder, path) { try XcodeProject(path, $0) }
        }
        let named = Set(projects.flatMap { project in project.targets.compactMap(\.infoPath).map(project.path(of:)) })
        var lists: [(path: String, list: EntitlementList)] = []
        for path in files where !path.hasSuffix(AppFiles.projectSuffix) {
            if !path.hasSuffix(".plist") {
                let list = read(folder, path) { try PropertyList.decode(EntitlementList.self, $0) }
                if let list { lists.append((path, list)) }
            } else if FileSystem.name(of: path) == "Info.plist" || named.contains(path) {
                let info = read(folder, path) { try PropertyList.decode(InfoList.self, $0) }
                if let info { targets.append(Target(path, info)) }
            }
        }
        guard !targets.isEmpty || !lists.isEmpty || !unreadable.isEmpty else {
            throw Failure(
                .noInput, "\(folder) has no Info.plist and no .entitlements below it: not the folder of an app")
        }
        let owners = projects.count == 1 ? add(projects[0]) : nil
        let paths = lists.map(\.path)
        entitlements = lists.map { path, list in
            Entitlements(path, list, owners.map { $0[path] ?? .other } ?? owner(of: path, list, among: paths))
        }
    }

    private mutating func read<Value>(_ folder: String, _ path: String, _ decode: ([UInt8]) throws -> Value) -> Value? {
        do { return try decode(FileSystem.readFoundFile(folder + "/" + path)) } catch {
            unreadable.append(path)
            return nil
        }
    }

    /// Adds what the project knows of the app and its extensions.
    ///
    /// - Returns: the owners of entitlements by their paths; nil if the project doesn't name those of both targets.
    private mutating func add(_ project: XcodeProject) -> [String: Entitlements.Owner]? {
        func index(of target: XcodeProject.Target) -> Int? {
            guard let path = target.infoPath.map(project.path(of:)) else { return nil }
            return targets.firstIndex { $0.path == path }
        }
        var service: XcodeProject.Target?
        for target in project.targets where target.isExtension {
            guard let index = index(of: target) else { continue }
            targets[index].add(target)
            targets[index].isEmbedded = project.embeds(target)
            if targets[index].looksLikeService { service = target }
        }
        guard let app = project.app else { return nil }
        if let index = index(of: app) {
            targets[index].add(app)
        } else if targets.allSatisfy(\.isExtension) {
            targets.append(Target(app, of: project))
        }
        guard let service, !app.entitlementPaths.isEmpty, !service.entitlementPaths.isEmpty else { return nil }
        let own = app.entitlementPaths.map { (project.path(of: $0), Entitlements.Owner.app) }
        return Dictionary(own + service.entitlementPaths.map { (project.path(of: $0), .service) }) { first, _ in first }
    }

    /// Without a project, only the app has the entitlement for pushes, and the only file next to an Info.plist is that
    /// target's.
    private func owner(of path: String, _ list: EntitlementList, among paths: [String]) -> Entitlements.Owner {
        if list.environment != nil || list.macEnvironment != nil { return .app }
        let folder = FileSystem.parent(of: path)
        let neighbours = targets.filter { FileSystem.parent(of: $0.path) == folder }
        guard neighbours.count == 1, paths.count(where: { FileSystem.parent(of: $0) == folder }) == 1 else {
            return .unknown
        }
        return neighbours[0].looksLikeService ? .service : neighbours[0].isExtension ? .other : .app
    }
}

/// The files below an app's folder that are read.
struct AppFiles {
    private(set) var paths: [String] = []
    /// The folders that can't be read.
    private(set) var unreadable: [String] = []

    static let projectSuffix = ".xcodeproj/project.pbxproj"
    private static let suffixes = ["Info.plist", ".entitlements", ".xcent"]

    /// Folders of other code, whose targets aren't the app's.
    private static let foreignFolders = ["Pods", "Carthage", "DerivedData", "SourcePackages", "node_modules", "build"]
    private static let foreignSuffixes = [
        ".framework", ".xcframework", ".xctest", ".bundle", ".xcworkspace",
    ]

    /// A project has fewer files and folders.
    static let entryLimit = 200_000
    private static let depthLimit = 12

    private let root: String
    private let limit: Int
    private var entryCount = 0
    private var visited: Set<FileStatus.Identity> = []
    /// Links to folders, which are followed last, so that a folder is named by its own path.
    private var links: [(path: String, depth: Int)] = []

    /// - Parameter limit: of the files and folders.
    /// - Throws: `Failure` for a folder with too many files; `FileError` if it can't be read.
    init(in root: String, limit: Int = entryLimit) throws {
        self.root = root
        self.limit = limit
        if let identity = FileStatus(root, followingLinks: true)?.identity { visited.insert(identity) }
        try collect("", FileSystem.names(in: root), depth: 0)
        while let link = links.popLast() { try collect(link.path, depth: link.depth) }
    }

    /// Each folder is read once: links can make circles.
    private mutating func collect(_ folder: String, depth: Int) throws {
        guard let identity = FileStatus(root + "/" + folder, followingLinks: true)?.identity,
            visited.insert(identity).inserted, depth < Self.depthLimit
        else { return }
        guard let names = try? FileSystem.names(in: root + "/" + folder) else { return unreadable.append(folder) }
        try collect(folder, names, depth: depth)
    }

    private mutating func collect(_ folder: String, _ names: [String], depth: Int) throws {
        entryCount += names.count
        guard entryCount <= limit else {
            throw Failure(
                .dataError,
                "\(root) has more than \(limit) files and folders: give the folder of the app's project only")
        }
        for name in names where !name.hasPrefix(".") {
            let child = folder.isEmpty ? name : folder + "/" + name
            if name.hasSuffix(".xcodeproj") {
                let project = child + "/project.pbxproj"
                if FileSystem.exists(root + "/" + project) { paths.append(project) }
            } else if FileSystem.isFolder(root + "/" + child) {
                let isForeign =
                    Self.foreignFolders.contains(name) || Self.foreignSuffixes.contains(where: name.hasSuffix)
                guard !isForeign else { continue }
                if FileStatus(root + "/" + child)?.kind == .symbolicLink {
                    links.append((child, depth + 1))
                } else {
                    try collect(child, depth: depth + 1)
                }
            } else if Self.suffixes.contains(where: name.hasSuffix) {
                paths.append(child)
            }
        }
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
    fileprivate init(_ path: String, _ list: EntitlementList, _ owner: Owner) {
        (self.path, self.owner) = (path, owner)
        (appGroups, keychainGroups) = (list.appGroups ?? [], list.keychainGroups ?? [])
        environment = list.environment ?? list.macEnvironment
    }
}
