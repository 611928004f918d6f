// Command cluster runs a real local control plane that is wired with Stowage, until it is interrupted.
// It prints one line on standard output, the one to paste into another shell; all else goes to
// standard error.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"stowage.dev/tests/e2e/process"
	"stowage.dev/tests/e2e/stowage"
)

func main() {
	options := stowage.ClusterOptions{Say: say}
	flag.StringVar(&options.Stowage.Binary, "stowage", "", "the stowage program; without it, only the control plane")
	flag.StringVar(&options.Manifests, "manifests", "", "the folder manifests/ (needed)")
	flag.StringVar(&options.ControlPlane.Programs, "programs", "",
		"directory of the control plane's programs (default: what build-controlplane makes)")
	flag.StringVar(&options.ControlPlane.Dir, "dir", "",
		"keep certificates, data and logs in this new directory (default: a temporary one)")
	flag.Float64Var(&options.Scheduler.QPS, "scheduler-qps", 500,
		"requests a second that kube-scheduler may make; 0: as its configuration says")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: cluster -manifests DIR [-stowage PROGRAM] [FLAG...] [-- FLAG OF STOWAGE SERVE...]")
		flag.PrintDefaults()
	}
	flag.Parse()
	options.Stowage.Args = flag.Args()
	if options.Manifests == "" {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(options); err != nil {
		say("%v", err)
		os.Exit(1)
	}
}

func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "cluster: "+format+"\n", args...)
}

func run(options stowage.ClusterOptions) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	begin := time.Now()
	cluster, err := stowage.Up(ctx, options)
	if err != nil {
		if ctx.Err() != nil {
			return errors.New("interrupted, everything is ended")
		}
		return err
	}
	say("up after %.1f s; Ctrl-C ends it", time.Since(begin).Seconds())
	fmt.Printf("export KUBECONFIG=%s\n", cluster.Kubeconfig())
	for _, part := range cluster.Parts() {
		go watch(ctx, part)
	}
	<-ctx.Done()
	stop() // a second Ctrl-C ends this at once; the kernel then ends the rest
	return end(cluster)
}

// watch tells when a part ends by itself; the others go on, as they would.
func watch(ctx context.Context, part *process.Process) {
	select {
	case <-part.Done():
		say("%s has ended (%v); the end of %s:\n%s", part.Name(), part.Err(), part.Log(), process.Tail(part.Log(), 2000))
	case <-ctx.Done():
	}
}

func end(cluster *stowage.Cluster) error {
	say("ending")
	defer cluster.Stop()
	if s := cluster.Stowage; s != nil && s.Running() {
		return s.Process.Stop(30 * time.Second)
	}
	return nil
}
