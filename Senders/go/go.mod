module github.com/pushcrypt/pushcrypt/Senders/go

go 1.24
