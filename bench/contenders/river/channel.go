package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"sync"
)

// Channel is Node's IPC channel: one JSON value a line.
type Channel struct {
	file  *os.File
	guard sync.Mutex
}

func openChannel() (*Channel, error) {
	fd, err := strconv.Atoi(os.Getenv("NODE_CHANNEL_FD"))
	if err != nil {
		return nil, fmt.Errorf("the bench starts this program: %w", err)
	}
	return &Channel{file: os.NewFile(uintptr(fd), "channel")}, nil
}

func (channel *Channel) send(message any) {
	line, err := json.Marshal(message)
	if err != nil {
		fail(err)
	}
	channel.guard.Lock()
	defer channel.guard.Unlock()
	if _, err := channel.file.Write(append(line, '\n')); err != nil {
		fail(err)
	}
}

// Message is what the parent sends.
type Message struct {
	IsStop bool `json:"isStop"`
	IsAsk  bool `json:"isAsk"`
}

// listen returns when the parent is gone.
func (channel *Channel) listen(onMessage func(Message)) {
	lines := bufio.NewScanner(channel.file)
	for lines.Scan() {
		var message Message
		if json.Unmarshal(lines.Bytes(), &message) == nil {
			onMessage(message)
		}
	}
}
