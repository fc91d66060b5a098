// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "notification-tests",
    platforms: [.iOS(.v16), .macOS(.v13)],
    dependencies: [.package(name: "pushcrypt", path: "../..")],
    targets: [
        // What the app's extension and its tests share.
        .target(name: "AppNotifications", dependencies: [.product(name: "PushCryptExtension", package: "pushcrypt")]),
        .testTarget(
            name: "AppNotificationsTests",
            dependencies: [
                "AppNotifications",
                // Needs OpenSSL: the tests run on Linux and macOS.
                .product(name: "PushCryptSender", package: "pushcrypt"),
                .product(name: "PushCryptSimulator", package: "pushcrypt"),
            ]),
    ]
)
