//! Plots, as SVG on a white ground, which is readable in light and dark pages alike.

use std::error::Error;
use std::ops::Range;
use std::path::Path;

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::*;

use crate::measure::{Unit, exponent};

/// Width and height, in pixels.
const SIZE: (u32, u32) = (760, 460);

/// Colours that people with any colour vision can tell apart, dark enough for white (Okabe and Ito).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(0, 0, 0),
];

/// The share of a range that is left free above, on a linear scale, and the factor, on a logarithmic one.
const HEADROOM: f64 = 1.1;
const LOG_HEADROOM: f64 = 2.0;
/// The share of the height that a line of the legend takes; it stands above all points where the scale is logarithmic.
const LEGEND_LINE: f64 = 0.047;

/// Figures against another quantity.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    /// The name of the file, with `.svg`.
    pub file: String,
    /// What it shows.
    pub title: String,
    /// The quantity along the bottom, with its unit.
    pub x_label: String,
    /// The quantity along the side, with its unit.
    pub y_label: String,
    /// The lines.
    pub series: Vec<Series>,
    /// Both scales are logarithmic, and each line's exponent of growth is in the legend.
    pub log_log: bool,
}

/// A line of a plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

impl Plot {
    /// A plot without lines on linear scales.
    #[must_use]
    pub fn linear(file: &str, title: &str, x_label: &str, y_label: &str) -> Self {
        Self {
            file: file.to_owned(),
            title: title.to_owned(),
            x_label: x_label.to_owned(),
            y_label: y_label.to_owned(),
            series: Vec::new(),
            log_log: false,
        }
    }

    /// A plot without lines on logarithmic scales.
    #[must_use]
    pub fn log_log(file: &str, title: &str, x_label: &str, y_label: &str) -> Self {
        Self {
            log_log: true,
            ..Self::linear(file, title, x_label, y_label)
        }
    }

    /// Appends a line.
    pub fn line(&mut self, name: &str, points: Vec<(f64, f64)>) {
        self.series.push(Series {
            name: name.to_owned(),
            points,
        });
    }

    /// The picture as Markdown of the page.
    #[must_use]
    pub fn markdown(&self) -> String {
        format!("![{}](images/performance/{})", self.title, self.file)
    }

    /// Draws it into a folder.
    ///
    /// # Errors
    ///
    /// There is nothing to draw, or the file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(&self.file);
        self.draw(&path)
            .map_err(|error| anyhow!("{}: {error}", path.display()))
    }

    fn draw(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        let area = SVGBackend::new(path, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let (x, y) = self.ranges().ok_or("no points")?;
        if self.log_log {
            self.draw_on(&area, x.log_scale(), y.log_scale())?;
        } else {
            self.draw_on(&area, x, y)?;
        }
        area.present()?;
        Ok(())
    }

    fn draw_on<X, Y, XRange, YRange>(
        &self,
        area: &DrawingArea<SVGBackend<'_>, Shift>,
        x: XRange,
        y: YRange,
    ) -> Result<(), Box<dyn Error>>
    where
        XRange: AsRangedCoord<CoordDescType = X, Value = f64>,
        YRange: AsRangedCoord<CoordDescType = Y, Value = f64>,
        X: Ranged<ValueType = f64> + ValueFormatter<f64>,
        Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, ("sans-serif", 20))
            .margin(14)
            .x_label_area_size(46)
            .y_label_area_size(72)
            .build_cartesian_2d(x, y)?;
        let label = |value: &f64| Unit::Count("").show(*value);
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .bold_line_style(RGBColor(224, 224, 224))
            .x_desc(&self.x_label)
            .y_desc(&self.y_label)
            .x_label_formatter(&label)
            .y_label_formatter(&label)
            .axis_desc_style(("sans-serif", 14))
            .label_style(("sans-serif", 12))
            .draw()?;
        for (series, colour) in self.series.iter().zip(COLOURS.iter().cycle()) {
            chart
                .draw_series(LineSeries::new(
                    series.points.clone(),
                    colour.stroke_width(2),
                ))?
                .label(self.legend(series))
                .legend(move |(x, y)| {
                    PathElement::new(vec![(x, y), (x + 18, y)], colour.stroke_width(2))
                });
            let dots = series.points.iter();
            chart.draw_series(dots.map(|point| Circle::new(*point, 3, colour.filled())))?;
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.85))
            .border_style(RGBColor(190, 190, 190))
            .label_font(("sans-serif", 13))
            .draw()?;
        Ok(())
    }

    /// The name of a line, with its exponent where the scales are logarithmic.
    fn legend(&self, series: &Series) -> String {
        match exponent(&series.points).filter(|_| self.log_log) {
            Some(exponent) => format!("{}: n^{exponent:.2}", series.name),
            None => series.name.clone(),
        }
    }

    /// What the two axes reach over; linear ones begin at zero.
    fn ranges(&self) -> Option<(Range<f64>, Range<f64>)> {
        let points = self.series.iter().flat_map(|series| &series.points);
        let xs: Vec<f64> = points.clone().map(|point| point.0).collect();
        let ys: Vec<f64> = points.map(|point| point.1).collect();
        Some((self.range(&xs)?, self.below_legend(self.range(&ys)?)))
    }

    /// The same range, and above it room for the legend.
    fn below_legend(&self, range: Range<f64>) -> Range<f64> {
        if !self.log_log {
            return range;
        }
        // Its frame takes as much as a line.
        let lines: f64 = self.series.iter().map(|_| LEGEND_LINE).sum();
        let share = (lines + LEGEND_LINE).min(0.5);
        let taller = (range.end / range.start).powf(share / (1.0 - share));
        range.start..range.end * taller
    }

    fn range(&self, values: &[f64]) -> Option<Range<f64>> {
        let low = values.iter().copied().reduce(f64::min)?;
        let high = values.iter().copied().reduce(f64::max)?;
        if self.log_log {
            return (low > 0.0).then(|| low / LOG_HEADROOM..high * LOG_HEADROOM);
        }
        Some(low.min(0.0)..(high * HEADROOM).max(f64::MIN_POSITIVE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(plot: &Plot) -> Result<String> {
        let folder = tempfile::tempdir()?;
        plot.write(folder.path())?;
        Ok(std::fs::read_to_string(folder.path().join(&plot.file))?)
    }

    #[test]
    fn a_plot_on_logarithmic_scales_tells_the_exponent() {
        let mut plot = Plot::log_log("growth.svg", "Growth", "bytes", "µs");
        plot.line("parser", vec![(1.0, 2.0), (10.0, 20.0), (100.0, 200.0)]);
        let svg = drawn(&plot).unwrap();
        assert!(svg.contains("parser: n^1.00"), "{svg}");
        assert!(svg.contains("Growth") && svg.contains("bytes"), "{svg}");
    }

    #[test]
    fn a_plot_on_linear_scales_begins_at_zero() {
        let mut plot = Plot::linear("tokens.svg", "Tokens", "iterations", "tokens");
        plot.line("ours", vec![(1.0, 50.0), (2.0, 60.0)]);
        assert_eq!(plot.ranges(), Some((0.0..2.2, 0.0..66.0)));
        assert!(!drawn(&plot).unwrap().contains("n^"));
    }

    #[test]
    fn a_plot_that_cannot_be_drawn_is_an_error() {
        let empty = Plot::linear("empty.svg", "Nothing", "x", "y");
        assert!(drawn(&empty).unwrap_err().to_string().contains("no points"));
        let mut zero = Plot::log_log("zero.svg", "Zero", "x", "y");
        zero.line("none", vec![(0.0, 1.0)]);
        assert!(drawn(&zero).is_err());
    }
}
