import PushCryptApple
import UserNotifications

extension RegionTriggers {
    static let stub = RegionTriggers(
        trigger: { region, repeats in
            StubLocationTrigger(
                identifier: region.id, center: (region.latitude, region.longitude), radius: region.radius,
                repeats: repeats)
        },
        region: { trigger in
            (trigger as? StubLocationTrigger).map {
                .init(
                    id: $0.identifier, latitude: $0.center.latitude, longitude: $0.center.longitude, radius: $0.radius)
            }
        })
}
