import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSender
import PushCryptSimulator
import Testing

extension TeamRun {
    static let keys = [
        TeamRun(
            cause: "the backend's table for keys has columns for a public key only, so it seals without the psk",
            finding: "psk-missing-at-backend",
            answer: [["psk", "pre-shared"], ["record", "store", "column", "registration"]]
        ) { isMistaken in
            let app = try await InstalledApp()
            let stored = try isMistaken ? Relay.rebuilt(app.record()) { $0["psk"] = nil } : app.record()
            let payload = try app.seal(to: stored)
            await app.deliver(payload, isMistaken: isMistaken)
            try app.writeReport()
            return try app.diagnose(
                payload, "--registration", app.write(stored, to: "record.json"), "--report", "report.json")
        },
        TeamRun(
            cause: "a wrong join pairs the device token of one phone with the record of another",
            finding: "registered-key-not-on-device",
            answer: [
                ["another device", "other device", "not of this device", "different device", "another install"],
                ["token", "record"],
            ]
        ) { isMistaken in
            let (app, other) = (try await InstalledApp(), try await InstalledApp())
            let stored = try isMistaken ? other.record() : app.record()
            let payload = try app.seal(to: stored)
            await app.deliver(payload, isMistaken: isMistaken)
            try app.writeReport()
            return try app.diagnose(
                payload, "--registration", app.write(stored, to: "record.json"), "--report", "report.json")
        },
        TeamRun(
            cause:
                "the backend was restored from a backup, and has the record of a key that the device replaced long ago",
            finding: "registered-key-not-on-device",
            answer: [
                ["old", "former", "replaced", "expired", "earlier", "no longer", "newer"],
                ["record", "regist", "upload"],
            ]
        ) { isMistaken in
            let app = try await InstalledApp()
            let backup = try app.record()
            try app.identity.confirmRegistered(app.identity.rotate().kid)
            app.clock.advance(by: .seconds(40 * 86_400))
            try app.identity.prune()
            let stored = try isMistaken ? backup : app.record()
            let payload = try app.seal(to: stored)
            await app.deliver(payload, isMistaken: isMistaken)
            try app.writeReport()
            return try app.diagnose(
                payload, "--registration", app.write(stored, to: "record.json"), "--report", "report.json")
        },
        TeamRun(
            cause: "the user signed out, and the backend didn't delete the record",
            finding: "registered-key-not-on-device",
            answer: [["sign", "no key", "has none", "erased"], ["record", "regist", "upload"]]
        ) { isMistaken in
            let app = try await InstalledApp()
            let stored = try app.record()
            if isMistaken { try app.identity.eraseAll() }
            let payload = try app.seal(to: stored)
            await app.deliver(payload, isMistaken: isMistaken)
            try app.writeReport()
            return try app.diagnose(
                payload, "--registration", app.write(stored, to: "record.json"), "--report", "report.json")
        },
        TeamRun(
            cause: "the sealer has the topic of the beta flavour, the device has the store's app",
            finding: "topic-differs",
            answer: [["topic"], ["com.example.app.beta"]]
        ) { isMistaken in
            let app = try await InstalledApp()
            let topic = InstalledApp.topic + (isMistaken ? ".beta" : "")
            let payload = try app.seal(topic: topic)
            let headers = PushHeaders(topic: InstalledApp.topic)
            let reception = await app.deliver(payload, headers, isMistaken: isMistaken)
            try app.writeReport()
            return try app.diagnose(
                payload, "--topic", topic, "--report", "report.json", "--headers", app.writeHeaders(headers, reception))
        },
        TeamRun(
            cause: "the backend's settings write the topic with capital letters",
            finding: "topic-differs",
            answer: [["topic"], ["com.example.app"], ["com.example.App".lowercased(), "case", "capital"]]
        ) { isMistaken in
            let app = try await InstalledApp()
            let topic = isMistaken ? "com.Example.App" : InstalledApp.topic
            let payload = try app.seal(topic: topic)
            await app.deliver(payload, isMistaken: isMistaken)
            try app.writeReport()
            return try app.diagnose(payload, "--topic", topic, "--report", "report.json")
        },
        TeamRun(
            cause: "the phone was restarted at night by an update, and not unlocked since",
            finding: "extension-never-ran",
            answer: [["unlock"], ["restart", "start"]]
        ) { isMistaken in
            let app = try await InstalledApp()
            let payload = try app.seal()
            if isMistaken { app.device.restart() }
            await app.deliver(payload, isMistaken: isMistaken)
            app.device.unlock()
            app.clock.advance(by: .seconds(3_600))
            try app.writeReport()
            return try app.diagnose(payload, "--report", "report.json")
        },
    ]
}
