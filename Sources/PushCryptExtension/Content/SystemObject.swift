/// An object of the system, for what its class doesn't let an app read: the name of a sound, the options of an attachment,
/// the style of a communication notification.
///
/// Unchecked: the object is immutable.
package struct SystemObject: Hashable, @unchecked Sendable {
    package let object: AnyObject

    package init(_ object: AnyObject) { self.object = object }

    package static func == (left: SystemObject, right: SystemObject) -> Bool { left.object === right.object }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(object)) }
}
