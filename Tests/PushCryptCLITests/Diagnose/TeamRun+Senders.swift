import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptSender
import PushCryptSimulator
import Testing

extension TeamRun {
    static let senders = [
        TeamRun(
            cause: "the variable with the signing key was empty after a deployment, so the backend doesn't sign",
            finding: "push-not-signed",
            answer: [["not signed", "unsigned", "no signature", "isn't signed", "without a signature"], ["sign"]]
        ) { isMistaken in
            let keys = try TeamKeys()
            defer { withExtendedLifetime(keys) {} }
            try keys.makeSender("backend")
            let published = try keys.exported("backend")
            let app = try await InstalledApp(.init(senders: .pinned(TrustedSenders(json: [UInt8](published)))))
            let payload = try app.seal(by: isMistaken ? nil : keys.signer("backend"))
            await app.deliver(payload, isMistaken: isMistaken)
            try app.writeReport()
            return try app.diagnose(payload, "--report", "report.json")
        },
        TeamRun(
            cause: "a gateway with a list of known members removed skid",
            finding: "push-not-signed",
            answer: [["not signed", "unsigned", "no signature", "isn't signed", "skid"], ["relay", "remov", "skid"]]
        ) { isMistaken in
            let keys = try TeamKeys()
            defer { withExtendedLifetime(keys) {} }
            try keys.makeSender("backend")
            let published = try keys.exported("backend")
            let app = try await InstalledApp(.init(senders: .pinned(TrustedSenders(json: [UInt8](published)))))
            let sealed = try app.seal(by: keys.signer("backend"))
            let payload = try isMistaken ? Relay.changing(sealed, "pushcrypt") { $0["skid"] = nil } : sealed
            await app.deliver(payload, isMistaken: isMistaken)
            return try app.diagnose(payload, "--trust", app.write(published, to: "senders.json"))
        },
        TeamRun(
            cause: "the backend already signs, but this version of the app pins no sender",
            finding: "signature-unexpected",
            answer: [["sign"], ["pin", "trust", "unsigned"]]
        ) { isMistaken in
            let keys = try TeamKeys()
            defer { withExtendedLifetime(keys) {} }
            try keys.makeSender("backend")
            let app = try await InstalledApp()
            let payload = try app.seal(by: isMistaken ? keys.signer("backend") : nil)
            await app.deliver(payload, isMistaken: isMistaken)
            try app.writeReport()
            return try app.diagnose(payload, "--report", "report.json")
        },
        TeamRun(
            cause: "the production backend was started with the signing key of the test environment",
            finding: "sender-not-pinned",
            answer: [["sign", "sender"], ["trust", "pin", "publish", "environment"]]
        ) { isMistaken in
            let keys = try TeamKeys()
            defer { withExtendedLifetime(keys) {} }
            for name in ["backend", "staging"] { try keys.makeSender(name) }
            let published = try keys.exported("backend")
            let app = try await InstalledApp(.init(senders: .pinned(TrustedSenders(json: [UInt8](published)))))
            let payload = try app.seal(by: keys.signer(isMistaken ? "staging" : "backend"))
            await app.deliver(payload, isMistaken: isMistaken)
            try app.writeReport()
            let trust = try app.write(published, to: "senders.json")
            return try app.diagnose(payload, "--trust", trust, "--report", "report.json")
        },
        TeamRun(
            cause: "the set of sender keys on the web server wasn't issued again, and is too old",
            finding: "sender-set-refused",
            answer: [
                ["set", "sender keys"], ["expired", "valid", "too old"], ["publish", "issue", "export", "sign"],
            ]
        ) { isMistaken in
            let keys = try TeamKeys()
            defer { withExtendedLifetime(keys) {} }
            try keys.makeSender("backend", publisher: "publisher")
            let pinned = try keys.pins("publisher", for: "backend")
            let pins = try keys.senderPins(pinned)
            let app = try await InstalledApp(.init(senders: .pinned(pins)))
            let first = try keys.signed("backend", by: "publisher")
            try pins.accept([UInt8](first), at: app.clock.time)
            app.clock.advance(by: .seconds(70 * 86_400))
            let later = try keys.signed("backend", by: "publisher", at: app.clock.time)
            if !isMistaken { try pins.accept([UInt8](later), at: app.clock.time) }
            let payload = try app.seal(by: keys.signer("backend", at: app.clock.time))
            await app.deliver(payload, isMistaken: isMistaken)
            try app.writeReport()
            return try app.diagnose(
                payload, "--topic", InstalledApp.topic, "--trust",
                app.write(isMistaken ? first : later, to: "senders.json"), "--pins",
                app.write(pinned, to: "sender-pins.json"), "--report", "report.json")
        },
        TeamRun(
            cause: "the app's sender-pins.json was made for the keyset of the test environment",
            finding: "sender-set-refused",
            answer: [["pins"], ["other", "another", "different", "not accept", "refuse", "doesn't accept"]]
        ) { isMistaken in
            let keys = try TeamKeys()
            defer { withExtendedLifetime(keys) {} }
            for name in ["backend", "staging"] { try keys.makeSender(name, publisher: "publisher") }
            let pinned = try keys.pins("publisher", for: isMistaken ? "staging" : "backend")
            let pins = try keys.senderPins(pinned)
            let app = try await InstalledApp(.init(senders: .pinned(pins)))
            let published = try keys.signed("backend", by: "publisher")
            if isMistaken {
                #expect(throws: DeviceKeyError.self) { try pins.accept([UInt8](published), at: app.clock.time) }
            } else {
                try pins.accept([UInt8](published), at: app.clock.time)
            }
            let payload = try app.seal(by: keys.signer("backend"))
            await app.deliver(payload, isMistaken: isMistaken)
            try app.writeReport()
            return try app.diagnose(
                payload, "--topic", InstalledApp.topic, "--trust", app.write(published, to: "senders.json"), "--pins",
                app.write(pinned, to: "sender-pins.json"), "--report", "report.json")
        },
        TeamRun(
            cause: "the app never downloaded the set of sender keys, because its address answers 404",
            finding: "sender-set-missing",
            answer: [["sender keys", "sender set", "set"], ["download", "fetch", "accept", "update"]]
        ) { isMistaken in
            let keys = try TeamKeys()
            defer { withExtendedLifetime(keys) {} }
            try keys.makeSender("backend", publisher: "publisher")
            let pins = try keys.senderPins(keys.pins("publisher", for: "backend"))
            let app = try await InstalledApp(.init(senders: .pinned(pins)))
            if !isMistaken {
                try pins.accept([UInt8](keys.signed("backend", by: "publisher")), at: app.clock.time)
            }
            let payload = try app.seal(by: keys.signer("backend"))
            await app.deliver(payload, isMistaken: isMistaken)
            try app.writeReport()
            return try app.diagnose(payload, "--report", "report.json")
        },
    ]
}
