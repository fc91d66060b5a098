package import PushCryptExtension
import PushCryptPrimitives

/// A place on the earth, in degrees.
public struct Position: Hashable, Sendable {
    /// The latitude, from -90 to 90.
    public let latitude: Double
    /// The longitude, from -180 to 180.
    public let longitude: Double

    /// Creates a position.
    public init(latitude: Double, longitude: Double) { (self.latitude, self.longitude) = (latitude, longitude) }
}

extension SimulatedNotificationCenter {
    /// Moves the device. Notifications with a region that it enters or leaves are shown: `UNLocationNotificationTrigger`.
    public func move(to position: Position) async {
        let fired = state.withLock { state -> [NotificationRequest] in
            let last = state.position
            state.position = position
            return state.scheduled.values.sorted { $0.number < $1.number }.compactMap { scheduled in
                guard state.allowsLocation, case .location(let region, _) = scheduled.request.trigger else {
                    return nil
                }
                // The first position is no crossing.
                guard let last, region.contains(last) != region.contains(position) else { return nil }
                let fires = region.contains(position) ? region.notifiesOnEntry : region.notifiesOnExit
                return fires ? scheduled.request : nil
            }
        }
        for request in fired {
            if request.trigger?.repeats != true { removePending([request.id]) }
            await deliver(DeliveredNotification(request, at: clock.time))
        }
    }

    /// The regions of the scheduled notifications, the one that was scheduled first at first.
    package var regions: [NotificationTrigger.Region] {
        state.withLock { state in
            state.scheduled.values.sorted { $0.number < $1.number }.compactMap { scheduled in
                guard case .location(let region, _) = scheduled.request.trigger else { return nil }
                return region
            }
        }
    }

    /// The device enters the region of a scheduled notification: it moves to the region's centre, as with ``move(to:)``. A device
    /// without a position is outside.
    ///
    /// - Throws: ``ResponseError/noRegion``, or ``ResponseError/inRegion`` if the device is inside already.
    public func enterRegion(_ id: String) async throws {
        let region = try region(id)
        let isInside = state.withLock { state in
            state.position = state.position ?? region.outside
            return state.position.map(region.contains) == true
        }
        guard !isInside else { throw ResponseError.inRegion }
        await move(to: region.centre)
    }

    /// The device leaves the region of a scheduled notification, as with ``move(to:)``. A device without a position is inside.
    ///
    /// - Throws: ``ResponseError/noRegion``, or ``ResponseError/notInRegion`` if the device is outside already.
    public func leaveRegion(_ id: String) async throws {
        let region = try region(id)
        let isInside = state.withLock { state in
            state.position = state.position ?? region.centre
            return state.position.map(region.contains) == true
        }
        guard isInside, let outside = region.outside else { throw ResponseError.notInRegion }
        await move(to: outside)
    }

    private func region(_ id: String) throws -> NotificationTrigger.Region {
        guard let region = regions.first(where: { $0.id == id }) else { throw ResponseError.noRegion }
        return region
    }
}

extension NotificationTrigger.Region {
    /// The earth's mean radius in metres.
    private static let earthRadius = 6_371_008.8

    /// Whether a position is in the circle, by the haversine formula on a sphere.
    func contains(_ position: Position) -> Bool {
        let radians = Double.pi / 180
        let half = (
            sin((position.latitude - latitude) * radians / 2), sin((position.longitude - longitude) * radians / 2)
        )
        let across: Double = cos(latitude * radians) * cos(position.latitude * radians) * half.1 * half.1
        let h: Double = half.0 * half.0 + across
        // The chord's half against that of the radius: no inverse function is needed.
        let limit = sin(min(radius / Self.earthRadius, .pi) / 2)
        return h <= limit * limit
    }

    var centre: Position { Position(latitude: latitude, longitude: longitude) }

    /// A position outside: two radii from the centre towards the equator, or on the other side of the earth. nil for a region that
    /// covers the earth.
    var outside: Position? {
        let degrees = 2 * radius / Self.earthRadius * 180 / .pi
        let near = Position(latitude: latitude > 0 ? latitude - degrees : latitude + degrees, longitude: longitude)
        let opposite = Position(latitude: -latitude, longitude: longitude > 0 ? longitude - 180 : longitude + 180)
        return [near, opposite].first { (-90...90).contains($0.latitude) && !contains($0) }
    }
}
