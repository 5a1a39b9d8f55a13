//! Deadlines, looked at a few times a second for all connections together.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::MissedTickBehavior;

use crate::connection::{Connection, Phase};
use crate::hub::Hub;
use crate::options::Options;
use crate::service::Service;

/// Looks for as long as the listener runs.
pub(crate) async fn watch<S: Service>(hub: Arc<Hub<S>>) {
    let mut tick = tokio::time::interval(hub.options.tick());
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        let now = hub.clock.now();
        hub.each(|connection| match verdict(connection, now, &hub.options) {
            Verdict::Fine => {}
            Verdict::Expire => connection.expire(),
            Verdict::Cut => {
                hub.stats.cut.add();
                connection.cut();
            }
            Verdict::Reset => {
                hub.stats.cut.add();
                connection.reset();
            }
            Verdict::Close => connection.cut(),
        });
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Fine,
    /// The body is given up, and its sender told.
    Expire,
    /// Nothing was wrong, but nothing came either.
    Close,
    Cut,
    Reset,
}

fn verdict(connection: &Connection, now: u64, options: &Options) -> Verdict {
    if connection.is_cut() {
        return Verdict::Fine;
    }
    if connection.stalled(now) > options.stall_timeout {
        return Verdict::Reset;
    }
    let age = connection.age(now);
    match connection.phase() {
        Phase::Head if age > options.head_timeout => Verdict::Cut,
        Phase::Body if age > body_deadline(connection.received(), options) => Verdict::Expire,
        Phase::Open if connection.has_exchange() && connection.peer_has_closed() => Verdict::Cut,
        Phase::Idle if age > options.idle_timeout && !connection.is_blocked() => Verdict::Close,
        _ => Verdict::Fine,
    }
}

/// How long a body may have taken of which so much has come.
fn body_deadline(received: u64, options: &Options) -> Duration {
    let earned = received.checked_div(options.body_min_rate).unwrap_or(0);
    options
        .body_grace
        .saturating_add(Duration::from_secs(earned))
        .min(options.body_timeout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_earns_its_time_up_to_the_total() {
        let options = Options {
            body_grace: Duration::from_secs(5),
            body_timeout: Duration::from_secs(60),
            body_min_rate: 1024,
            ..Options::default()
        };
        let deadline = |received| body_deadline(received, &options).as_secs();
        assert_eq!(deadline(0), 5);
        assert_eq!(deadline(1023), 5);
        assert_eq!(deadline(1024), 6);
        assert_eq!(deadline(55 * 1024), 60);
        assert_eq!(deadline(4 << 20), 60);
    }
}
