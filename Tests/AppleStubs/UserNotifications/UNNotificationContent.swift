public import Foundation

@available(iOS 15, macOS 12, watchOS 8, tvOS 15, visionOS 1, *)
public enum UNNotificationInterruptionLevel: UInt, Sendable {
    case passive, active, timeSensitive, critical
}

/// What a content object can be updated from, such as an intent.
@available(iOS 15, macOS 12, watchOS 8, visionOS 1, *)
@available(tvOS, unavailable)
public protocol UNNotificationContentProviding: NSObjectProtocol {
    /// Why the system refuses the object. Apple's protocol has no members.
    var stubRefusal: UNError.Code? { get }
}

// On tvOS Apple's class has only a badge.
@available(iOS 10, macOS 10.14, watchOS 3, visionOS 1, *)
@available(tvOS, unavailable)
open class UNNotificationContent: NSObject, NSCopying, NSMutableCopying {
    fileprivate struct Members {
        var attachments: [UNNotificationAttachment] = []
        var badge: NSNumber?
        var body = ""
        var categoryIdentifier = ""
        var filterCriteria: String?
        var interruptionLevel = UNNotificationInterruptionLevel.active
        var launchImageName = ""
        var relevanceScore = 0.0
        var sound: UNNotificationSound?
        var subtitle = ""
        var summaryArgument = ""
        var summaryArgumentCount = 1
        var targetContentIdentifier: String?
        var threadIdentifier = ""
        var title = ""
        var userInfo: [AnyHashable: Any] = [:]
        var provider: (any UNNotificationContentProviding)?
    }

    fileprivate final var members = Members()

    public override init() {
        super.init()
    }

    fileprivate init(_ members: Members) {
        self.members = members
        super.init()
    }

    open var attachments: [UNNotificationAttachment] { members.attachments }
    open var badge: NSNumber? { members.badge }
    open var body: String { members.body }
    open var categoryIdentifier: String { members.categoryIdentifier }
    @available(iOS 16, macOS 13, watchOS 9, visionOS 1, *)
    open var filterCriteria: String? { members.filterCriteria }
    @available(iOS 15, macOS 12, watchOS 8, tvOS 15, visionOS 1, *)
    open var interruptionLevel: UNNotificationInterruptionLevel { members.interruptionLevel }
    @available(macOS, unavailable)
    open var launchImageName: String { members.launchImageName }
    @available(iOS 15, macOS 12, watchOS 8, tvOS 15, visionOS 1, *)
    open var relevanceScore: Double { members.relevanceScore }
    open var sound: UNNotificationSound? { members.sound }
    open var subtitle: String { members.subtitle }
    // Deprecated since iOS 15 and watchOS 8. All supported systems ignore these two members.
    @available(*, deprecated, message: "summaryArgument is ignored")
    open var summaryArgument: String { members.summaryArgument }
    @available(*, deprecated, message: "summaryArgumentCount is ignored")
    open var summaryArgumentCount: Int { members.summaryArgumentCount }
    @available(iOS 13, macOS 10.15, watchOS 6, tvOS 13, visionOS 1, *)
    open var targetContentIdentifier: String? { members.targetContentIdentifier }
    open var threadIdentifier: String { members.threadIdentifier }
    open var title: String { members.title }
    open var userInfo: [AnyHashable: Any] { members.userInfo }

    /// Returns a new object, which isn't mutable. It must be shown as it is: a mutable copy has lost the provider.
    open func updating(from provider: any UNNotificationContentProviding) throws -> UNNotificationContent {
        if let refusal = provider.stubRefusal { throw UNError(refusal) }
        var members = members
        members.provider = provider
        return UNNotificationContent(members)
    }

    /// Apple's class doesn't expose what it was updated from.
    public final var stubProvider: (any UNNotificationContentProviding)? { members.provider }

    open func copy(with zone: NSZone? = nil) -> Any { frozen }

    open func mutableCopy(with zone: NSZone? = nil) -> Any {
        var members = members
        members.provider = nil
        return UNMutableNotificationContent(members)
    }

    var frozen: UNNotificationContent { UNNotificationContent(members) }
}

@available(iOS 10, macOS 10.14, watchOS 3, visionOS 1, *)
@available(tvOS, unavailable)
open class UNMutableNotificationContent: UNNotificationContent {
    open override var attachments: [UNNotificationAttachment] {
        get { members.attachments }
        set { members.attachments = newValue }
    }
    open override var badge: NSNumber? {
        get { members.badge }
        set { members.badge = newValue }
    }
    open override var body: String {
        get { members.body }
        set { members.body = newValue }
    }
    open override var categoryIdentifier: String {
        get { members.categoryIdentifier }
        set { members.categoryIdentifier = newValue }
    }
    @available(iOS 16, macOS 13, watchOS 9, visionOS 1, *)
    open override var filterCriteria: String? {
        get { members.filterCriteria }
        set { members.filterCriteria = newValue }
    }
    @available(iOS 15, macOS 12, watchOS 8, tvOS 15, visionOS 1, *)
    open override var interruptionLevel: UNNotificationInterruptionLevel {
        get { members.interruptionLevel }
        set { members.interruptionLevel = newValue }
    }
    @available(macOS, unavailable)
    open override var launchImageName: String {
        get { members.launchImageName }
        set { members.launchImageName = newValue }
    }
    @available(iOS 15, macOS 12, watchOS 8, tvOS 15, visionOS 1, *)
    open override var relevanceScore: Double {
        get { members.relevanceScore }
        set { members.relevanceScore = newValue }
    }
    open override var sound: UNNotificationSound? {
        get { members.sound }
        set { members.sound = newValue }
    }
    open override var subtitle: String {
        get { members.subtitle }
        set { members.subtitle = newValue }
    }
    @available(*, deprecated, message: "summaryArgument is ignored")
    open override var summaryArgument: String {
        get { members.summaryArgument }
        set { members.summaryArgument = newValue }
    }
    @available(*, deprecated, message: "summaryArgumentCount is ignored")
    open override var summaryArgumentCount: Int {
        get { members.summaryArgumentCount }
        set { members.summaryArgumentCount = newValue }
    }
    @available(iOS 13, macOS 10.15, watchOS 6, tvOS 13, visionOS 1, *)
    open override var targetContentIdentifier: String? {
        get { members.targetContentIdentifier }
        set { members.targetContentIdentifier = newValue }
    }
    open override var threadIdentifier: String {
        get { members.threadIdentifier }
        set { members.threadIdentifier = newValue }
    }
    open override var title: String {
        get { members.title }
        set { members.title = newValue }
    }
    open override var userInfo: [AnyHashable: Any] {
        get { members.userInfo }
        set { members.userInfo = newValue }
    }
}
