import PushCryptApple
import UserNotifications

let modified = SystemContentStage(name: "suffix") { content in
    content.title += " [modified]"
}
