import PushCryptApple
import UserNotifications

nonisolated let modified = SystemContentStage(name: "suffix") { content in
    content.title += " [modified]"
}
