package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

const now = "2026-11-20T12:00:00Z"

// karpenterPods is how many pods Karpenter is asked about at most: more take it minutes.
const karpenterPods = 2000

type bench struct{ stowage, karpenter, aws, work string }

type result struct {
	overBound, overGreedy float64
	overKarpenter         float64 // 0: not compared: left out, or it placed other pods
	nodes, steps          float64
	millis                float64 // decoded objects to plan
	unplaced              int
}

type plan struct {
	NodeClaims    []struct{} `json:"nodeClaims"`
	Unschedulable []struct{} `json:"unschedulable"`
	Cost          struct{ After, LowerBound float64 }
	Search        struct{ Steps float64 }
}

func (b *bench) run(f *family, seed int64) (result, error) {
	input, types, err := b.write(f, seed)
	if err != nil {
		return result{}, err
	}
	args := []string{"plan", "-o", "json", "-f", input, "--now", now}
	if types != "" {
		args = append(args, "--instance-types", types)
	}
	ours, said, err := ask(b.stowage, append(args, "--repeat", "3")...)
	if err != nil {
		return result{}, err
	}
	greedy, _, err := ask(b.stowage, append(args, "--search", "greedy")...)
	if err != nil {
		return result{}, err
	}
	if ours.Cost.LowerBound <= 0 {
		return result{}, errors.New("the plan has no bound")
	}
	var took struct{ SolveMedianNs float64 }
	lines := strings.Split(strings.TrimSpace(said), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &took); err != nil {
		return result{}, fmt.Errorf("%s: %w", said, err)
	}
	r := result{overBound: ours.Cost.After / ours.Cost.LowerBound, overGreedy: ours.Cost.After / greedy.Cost.After,
		nodes: float64(len(ours.NodeClaims)), steps: ours.Search.Steps, millis: took.SolveMedianNs / 1e6, unplaced: len(ours.Unschedulable)}
	if b.karpenter != "" && f.pods <= karpenterPods {
		price, unplaced, err := b.theirs(args, input, types)
		if err != nil {
			return result{}, err
		}
		if unplaced == r.unplaced && price > 0 {
			r.overKarpenter = ours.Cost.After / price
		}
	}
	return r, nil
}

func (b *bench) write(f *family, seed int64) (input, types string, err error) {
	name := filepath.Join(b.work, fmt.Sprintf("economy-%s-%d", f.name, seed))
	if err := os.MkdirAll(b.work, 0o755); err != nil {
		return "", "", err
	}
	if err := put(name+".json", f.mix(seed)); err != nil {
		return "", "", err
	}
	if f.aws {
		if b.aws == "" {
			return "", "", errors.New("it needs the AWS catalogue: -aws")
		}
		return name + ".json", b.aws, nil
	}
	if all := f.catalogue(); all != nil {
		types = name + ".types.json"
		err = put(types, all)
	}
	return name + ".json", types, err
}

func put(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// ask runs a planner; pods without a place are no error.
func ask(program string, args ...string) (*plan, string, error) {
	cmd := exec.Command(program, args...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != 1 {
		return nil, "", fmt.Errorf("%s: %w: %s", filepath.Base(program), err, said.String())
	}
	p := &plan{}
	return p, said.String(), json.Unmarshal(out.Bytes(), p)
}

// theirs is the price of Karpenter's plan and how many pods it does not place, remembered by what it is asked.
func (b *bench) theirs(args []string, input, types string) (price float64, unplaced int, err error) {
	sum := sha256.New()
	for _, file := range []string{input, types} {
		data, err := os.ReadFile(file)
		if err != nil && file != "" {
			return 0, 0, err
		}
		sum.Write(data)
	}
	known := filepath.Join(b.work, fmt.Sprintf("economy-%x.karpenter", sum.Sum(nil)[:8]))
	if text, err := os.ReadFile(known); err == nil {
		_, err = fmt.Sscan(string(text), &price, &unplaced)
		return price, unplaced, err
	}
	p, _, err := ask(b.karpenter, append(args, "--no-time-limit")...)
	if err != nil {
		return 0, 0, err
	}
	text := strconv.FormatFloat(p.Cost.After, 'g', -1, 64) + " " + strconv.Itoa(len(p.Unschedulable)) + "\n"
	return p.Cost.After, len(p.Unschedulable), os.WriteFile(known, []byte(text), 0o644)
}
