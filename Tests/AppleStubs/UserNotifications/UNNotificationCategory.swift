public import Foundation

@available(iOS 10, macOS 10.14, watchOS 3, visionOS 1, *)
@available(tvOS, unavailable)
public struct UNNotificationActionOptions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }
}

@available(iOS 15, macOS 12, watchOS 8, tvOS 15, visionOS 1, *)
open class UNNotificationActionIcon: NSObject {
    /// Apple's class doesn't expose the name.
    public let stubName: String

    public init(systemImageName: String) { stubName = "system " + systemImageName }
    public init(templateImageName: String) { stubName = "template " + templateImageName }
}

@available(iOS 10, macOS 10.14, watchOS 3, visionOS 1, *)
@available(tvOS, unavailable)
open class UNNotificationAction: NSObject {
    public let identifier: String
    public let title: String
    public let options: UNNotificationActionOptions
    @available(iOS 15, macOS 12, watchOS 8, visionOS 1, *)
    open var icon: UNNotificationActionIcon? { stubIcon as? UNNotificationActionIcon }
    private let stubIcon: NSObject?

    @available(iOS 15, macOS 12, watchOS 8, visionOS 1, *)
    public init(
        identifier: String, title: String, options: UNNotificationActionOptions = [], icon: UNNotificationActionIcon?
    ) {
        (self.identifier, self.title, self.options, stubIcon) = (identifier, title, options, icon)
    }
}

@available(iOS 10, macOS 10.14, watchOS 3, visionOS 1, *)
@available(tvOS, unavailable)
open class UNTextInputNotificationAction: UNNotificationAction {
    public let textInputButtonTitle: String
    public let textInputPlaceholder: String

    public init(
        identifier: String, title: String, options: UNNotificationActionOptions = [], icon: UNNotificationActionIcon?,
        textInputButtonTitle: String, textInputPlaceholder: String
    ) {
        self.textInputButtonTitle = textInputButtonTitle
        self.textInputPlaceholder = textInputPlaceholder
        super.init(identifier: identifier, title: title, options: options, icon: icon)
    }
}

@available(iOS 10, macOS 10.14, watchOS 3, visionOS 1, *)
@available(tvOS, unavailable)
public struct UNNotificationCategoryOptions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }
}

@available(iOS 10, macOS 10.14, watchOS 3, visionOS 1, *)
@available(tvOS, unavailable)
open class UNNotificationCategory: NSObject {
    public let identifier: String
    public let actions: [UNNotificationAction]
    public let intentIdentifiers: [String]
    public let options: UNNotificationCategoryOptions
    @available(iOS 11, macOS 10.14, visionOS 1, *)
    @available(watchOS, unavailable)
    open var hiddenPreviewsBodyPlaceholder: String { stubPlaceholder }
    private let stubPlaceholder: String

    public init(
        identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
        options: UNNotificationCategoryOptions = []
    ) {
        (self.identifier, self.actions) = (identifier, actions)
        (self.intentIdentifiers, self.options) = (intentIdentifiers, options)
        stubPlaceholder = ""
    }

    @available(iOS 11, macOS 10.14, visionOS 1, *)
    @available(watchOS, unavailable)
    public init(
        identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
        hiddenPreviewsBodyPlaceholder: String, options: UNNotificationCategoryOptions = []
    ) {
        (self.identifier, self.actions) = (identifier, actions)
        (self.intentIdentifiers, self.options) = (intentIdentifiers, options)
        stubPlaceholder = hiddenPreviewsBodyPlaceholder
    }
}
