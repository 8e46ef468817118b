module example.com/echobot

go 1.19
